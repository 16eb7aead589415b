module callsign

go 1.21
