//go:build callsign_system

package callsign

// The installed library.

// #cgo pkg-config: callsign
import "C"
