/* callsign explain: why the answer to an address is what it is. */
#include "command.h"
