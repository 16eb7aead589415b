# fish completion for callsign

set -l commands convert lookup dump verify help
complete -c callsign -n "not __fish_seen_subcommand_from $commands" -f
complete -c callsign -n "not __fish_seen_subcommand_from $commands" -a convert -d 'make an index from a program, library or debug file'
complete -c callsign -n "not __fish_seen_subcommand_from $commands" -a lookup -d 'function, source line and inlined calls at addresses'
complete -c callsign -n "not __fish_seen_subcommand_from $commands" -a dump -d 'show what an index holds'
complete -c callsign -n "not __fish_seen_subcommand_from $commands" -a verify -d 'check every record of an index'
complete -c callsign -n "not __fish_seen_subcommand_from $commands" -a help -d 'tell about a command'
complete -c callsign -n "not __fish_seen_subcommand_from $commands" -l version -d 'show the version and what is built in'
complete -c callsign -s h -l help -d 'show a short help'
complete -c callsign -n '__fish_seen_subcommand_from help' -f -a 'convert lookup dump verify'

complete -c callsign -n '__fish_seen_subcommand_from convert' -s o -l out -r -F -d 'where to write'
complete -c callsign -n '__fish_seen_subcommand_from convert' -l to -x -a gsym -d 'format of the index'
complete -c callsign -n '__fish_seen_subcommand_from convert' -l arch -x -a 'x86_64 arm64' -d 'which image of a universal file'
complete -c callsign -n '__fish_seen_subcommand_from convert' -s j -l threads -x -d 'how many threads work'
complete -c callsign -n '__fish_seen_subcommand_from convert' -l call-sites -x -a dwarf -d 'keep call sites'
complete -c callsign -n '__fish_seen_subcommand_from convert' -l strict -d 'fail when anything is dropped or damaged'
complete -c callsign -n '__fish_seen_subcommand_from convert' -l max-inflate -x -d 'limit of what compressed sections inflate to'
complete -c callsign -n '__fish_seen_subcommand_from convert' -l report -r -F -d 'write a report as JSON'
complete -c callsign -n '__fish_seen_subcommand_from convert' -s q -l quiet -d 'errors only'

complete -c callsign -n '__fish_seen_subcommand_from lookup' -l json -d 'one JSON object a line'
complete -c callsign -n '__fish_seen_subcommand_from lookup' -s C -l demangle -d 'names as in the source'
complete -c callsign -n '__fish_seen_subcommand_from lookup' -l llvm -d "answer as LLVM's reader does"

complete -c callsign -n '__fish_seen_subcommand_from dump' -s s -l summary -d 'the header only'
complete -c callsign -n '__fish_seen_subcommand_from dump' -l json -d 'one JSON object a line'
complete -c callsign -n '__fish_seen_subcommand_from dump' -s C -l demangle -d 'names as in the source'

complete -c callsign -n '__fish_seen_subcommand_from verify' -l against -r -F -d 'the object that it was made from'
complete -c callsign -n '__fish_seen_subcommand_from verify' -s q -l quiet -d 'print nothing'
