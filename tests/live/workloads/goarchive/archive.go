// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

// An archive for C: burn is called by C and burns in Go, and in C that it calls.
package main

// #include <stdint.h>
// uint64_t c_back(uint64_t n);
import "C"

//go:noinline
func goLeaf(n uint64) uint64 {
	var sum uint64
	for i := uint64(0); i < n; i++ {
		sum = sum*31 + i
	}
	return sum
}

//go:noinline
func goMiddle(n uint64) uint64 {
	return goLeaf(n) + uint64(C.c_back(C.uint64_t(n)))
}

//export GoOuter
func GoOuter(n C.uint64_t) C.uint64_t {
	return C.uint64_t(goMiddle(uint64(n)))
}

func main() {}
