// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

// goroutines: leaf burns for main, and as long in a goroutine. It imports nothing, so that little of Go's library is
// built.
package main

//go:noinline
func leaf(n uint64) uint64 {
	var sum uint64
	for i := uint64(0); i < n; i++ {
		sum = sum*31 + i
	}
	return sum
}

//go:noinline
func middle(rounds int) (sum uint64) {
	for ; rounds > 0; rounds-- {
		sum += leaf(300000)
	}
	return
}

//go:noinline
func other(n uint64) uint64 {
	return leaf(n) + 1
}

//go:noinline
func routine(rounds int, done chan uint64) {
	var sum uint64
	for ; rounds > 0; rounds-- {
		sum += other(300000)
	}
	done <- sum
}

func main() {
	done := make(chan uint64)
	sum := middle(1000)
	go routine(1000, done)
	if sum+<-done == 1 {
		println("never")
	}
}
