//go:build !callsign_system

package callsign

// The library of this tree, which `make` builds.

// #cgo CFLAGS: -I${SRCDIR}/../../include
// #cgo LDFLAGS: -L${SRCDIR}/../../build/release -Wl,-rpath,${SRCDIR}/../../build/release -lcallsign
import "C"
