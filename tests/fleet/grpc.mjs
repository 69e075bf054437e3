// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// grpc.mjs PORT FILE LIMIT [REFUSED]: a server with OpenTelemetry's method; each request it takes is added to FILE,
// behind its size as a varint. The first, or the first REFUSED, are answered with UNAVAILABLE, and those of more
// than LIMIT bytes with RESOURCE_EXHAUSTED.
import { appendFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const grpc = createRequire(`${process.cwd()}/`)('@grpc/grpc-js');
const [port, file, limit, refused = 1] = process.argv.slice(2);
const bytes = message => message;
const server = new grpc.Server({ 'grpc.max_receive_message_length': Number(limit) });
let calls = 0;

server.addService({
	Export: {
		path: '/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export',
		requestStream: false, responseStream: false,
		requestSerialize: bytes, requestDeserialize: bytes,
		responseSerialize: bytes, responseDeserialize: bytes,
	},
}, {
	Export: (call, answer) => {
		if (calls++ < refused)
			return answer({ code: grpc.status.UNAVAILABLE, details: 'not yet' });
		const size = [];
		for (let left = call.request.length; ; left = Math.floor(left / 128)) {
			size.push(left % 128 + (left >= 128 ? 128 : 0));
			if (left < 128)
				break;
		}
		appendFileSync(file, Buffer.concat([Buffer.from(size), call.request]));
		answer(null, Buffer.alloc(0));
	},
});
server.bindAsync(`127.0.0.1:${port}`, grpc.ServerCredentials.createInsecure(), error => {
	if (error)
		throw error;
});
