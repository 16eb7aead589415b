#compdef callsign
# zsh completion for callsign; made by scripts/make-completions

local -a commands help
commands=(
    'convert:make an index from a program, library, debug file or index'
    'lookup:function, source line and inlined calls at addresses'
    'stack:name whole call stacks, and tell merged functions apart'
    'profile:fill functions and lines into a profile, and convert it'
    'find:addresses of functions and source lines'
    'explain:show why the answer to an address is what it is'
    'dump:show the contents of an index\: header, files, functions'
    'verify:check every record of an index'
    'diff:compare two indexes by meaning'
    'stats:where the bytes of an index go'
    'accelerate:make lookups in an index faster'
    'embed:put an index into the program it belongs to'
    'extract:take the index out of a program'
    'dialects:other symbolizers' commands that callsign stands in for'
    'cache:the cache of converted indexes'
    'udf:answer rows of a database\: an executable function'
    'store:fill, list and check a symbol store'
    'serve:serve a store of symbols over HTTP'
    'help:tell about a command'
)
help=('(-h --help)'{-h,--help}'[show a short help]')

local curcontext=$curcontext state line
_arguments -C '--version[show the version and what is built in]' $help '1:command:->command' '*::argument:->argument'

case $state in
    command) _describe command commands ;;
    argument)
        case $line[1] in
            convert)
                _arguments $help \
                    '(-o --out)'{-o,--out}'[the file to write (default]:out:_files' \
                    '--to[format of the index]:format:(gsym gsym-v2 gsym-auto gsym-section bsym breakpad)' \
                    '--endian[byte order of the index, little or big (default]:order:(little big)' \
                    '--segment-size[write several indexes of about this size, OUT-0xADDRESS, and a list of them, OUT-manifest.json]:bytes:(1M 16M 256M)' \
                    '--revision[of gsym-section]:rev:(A B B-script C D E F G)' \
                    '--strings-in[of gsym-section]:section:(.strtab .dynstr .debug_str)' \
                    '(-j --threads)'{-j,--threads}'[number of threads (default 0]:n:(1 2 4 8)' \
                    '--merged-functions[keep all functions that share their code]::mode:(aliases llvm)' \
                    '--call-sites[keep the call sites in DWARF]:dwarf|file:(dwarf)' \
                    '--bare-patterns[write call sites as llvm-gsymutil does]' \
                    '--shorten-names[store names demangled and without default template arguments of the C++ library]' \
                    '--shorten-nested[the same, also inside template arguments]' \
                    '--mangled[breakpad]' \
                    '--no-cfi[breakpad]' \
                    '--bsym-version[--to bsym]:v:(1.0 2.0 2.1 2.2 2.3)' \
                    '--bsym-tokens[--to bsym]:table:(best reference none)' \
                    '--name-table[--to gsym, gsym-v2]' \
                    '--accelerate[--to gsym, gsym-v2]' \
                    '--remote-layout[--accelerate for a file that is read from a server]' \
                    '--strict[fail if anything is dropped or damaged]' \
                    '--max-inflate[refuse an input whose sections inflate to more than this in total (default 64G]:bytes:(1G 4G 16G 64G)' \
                    '--report[write what was read, merged, clipped and dropped as JSON]:file:_files' \
                    '(-v --verbose)'{-v,--verbose}'[also report what was merged]' \
                    '(-q --quiet)'{-q,--quiet}'[print errors only]' \
                    '--arch[image to use of a universal Mach-O file]:arch:(x86_64 arm64)' \
                    '--debug-file[use this debug file or dSYM bundle]:file:_files' \
                    '--debug-dir[search this folder for debug files instead of /usr/lib/debug]:dir:_files' \
                    '--dwp[split DWARF package]:file:_files' \
                    '--dwo-dir[folder of .dwo files, searched before the recorded paths]:dir:_files' \
                    '--oso-prefix[also look for object files of a Mach-O debug map below DIR]:dir:_files' \
                    '--symbol-server[symbol server to ask for PDBs, before those of _NT_SYMBOL_PATH]:url:' \
                    '--fetch-timeout[stop a download after this time (default]:sec:' \
                    '--fetch-limit[do not download files larger than this]:bytes:' \
                    '--no-companions[read only the input]' \
                    '*:file:_files'
                ;;
            lookup)
                _arguments $help \
                    '--json[one JSON object a line instead of text]' \
                    '(-C --demangle)'{-C,--demangle}'[show demangled names]' \
                    '--merged[list all functions that share the code at an address, if the index has them (convert --merged-functions)]' \
                    '--shorten-names[show names demangled and without default template arguments of the C++ library]' \
                    '--shorten-nested[the same, also inside template arguments]' \
                    '--llvm[answer exactly as LLVMs reader]' \
                    '--load-address[ADDR are addresses of a process in which the images first byte lies here]:addr:' \
                    '--slide[the same, by the difference to addresses in the images file]:n:' \
                    '--pid[ADDR are addresses of this process]:pid:' \
                    '--maps[the same, with a copy of its /proc/PID/maps, its core dump, or a crash report that lists its images]:file:_files' \
                    '--return-addresses[ADDR are return addresses]' \
                    '(-j --threads)'{-j,--threads}'[number of threads for addresses on standard input (default 0]:n:(1 2 4 8)' \
                    '--offline[ask no server for debug files]' \
                    '--cache-dir[folder of converted indexes (default]:dir:_files' \
                    '--no-cache[convert in memory]' \
                    '--arch[image to use of a universal Mach-O file]:arch:(x86_64 arm64)' \
                    '--debug-file[use this debug file or dSYM bundle]:file:_files' \
                    '--debug-dir[search this folder for debug files instead of /usr/lib/debug]:dir:_files' \
                    '--dwp[split DWARF package]:file:_files' \
                    '--dwo-dir[folder of .dwo files, searched before the recorded paths]:dir:_files' \
                    '--oso-prefix[also look for object files of a Mach-O debug map below DIR]:dir:_files' \
                    '--symbol-server[symbol server to ask for PDBs, before those of _NT_SYMBOL_PATH]:url:' \
                    '--fetch-timeout[stop a download after this time (default]:sec:' \
                    '--fetch-limit[do not download files larger than this]:bytes:' \
                    '--no-companions[read only the input]' \
                    '*:file:_files'
                ;;
            stack)
                _arguments $help \
                    '(-i --index)'{-i,--index}'[an index or object file]:file:_files' \
                    '(-s --symbols)'{-s,--symbols}'[a folder of indexes by build id (ab/cdef....gsym), as Breakpad stores are (NAME/ID/NAME.sym), or by name (NAME.gsym)]:dir:_files' \
                    '(-f --format)'{-f,--format}'[kind of input (default]:format:' \
                    '--json[one JSON object for each stack instead of text]' \
                    '--in-place[copy the input with its frames filled in]' \
                    '--explain[show why each name was chosen, and where the symbols of a module were searched in vain]' \
                    '(-C --demangle)'{-C,--demangle}'[show demangled names]' \
                    '(-j --threads)'{-j,--threads}'[number of threads (default]:n:(1 2 4 8)' \
                    '--max-frames[longest stack to answer (default 65536)]:n:' \
                    '--cache[memory for cached answers (default 128M a thread, 512M in all)]:size:' \
                    '--no-search[use the given indexes only]' \
                    '--debug-dir[search this folder for debug files instead of /usr/lib/debug]:dir:_files' \
                    '--offline[ask no server for debug files]' \
                    '--cache-dir[folder of converted indexes (default]:dir:_files' \
                    '--no-cache[convert in memory]' \
                    '*:file:_files'
                ;;
            profile)
                _arguments $help \
                    '(-o --out)'{-o,--out}'[write the profile here]:file:_files' \
                    '--from[kind of input (default]:format:(pprof firefox otlp otlp-json legacy perf-script folded)' \
                    '--to[kind of output (default]:format:(pprof firefox otlp otlp-json perf-script folded html)' \
                    '(-i --index)'{-i,--index}'[an index or object file]:file:_files' \
                    '(-s --symbols)'{-s,--symbols}'[a folder of indexes, as for callsign stack]:dir:_files' \
                    '--no-demangle[show names as they are stored]' \
                    '--title[title of the page (html)]:text:' \
                    '--explain[list the modules for which no symbols were found]' \
                    '(-q --quiet)'{-q,--quiet}'[no summary]' \
                    '--no-search[use the given indexes only]' \
                    '--debug-dir[search this folder for debug files instead of /usr/lib/debug]:dir:_files' \
                    '--offline[ask no server for debug files]' \
                    '--cache-dir[folder of converted indexes (default]:dir:_files' \
                    '--no-cache[convert in memory]' \
                    '*:file:_files'
                ;;
            find)
                _arguments $help \
                    '--json[one JSON object for each NAME instead of text]' \
                    '(-C --demangle)'{-C,--demangle}'[show demangled names]' \
                    '--offline[ask no server for debug files]' \
                    '--cache-dir[folder of converted indexes (default]:dir:_files' \
                    '--no-cache[convert in memory]' \
                    '--arch[image to use of a universal Mach-O file]:arch:(x86_64 arm64)' \
                    '--debug-file[use this debug file or dSYM bundle]:file:_files' \
                    '--debug-dir[search this folder for debug files instead of /usr/lib/debug]:dir:_files' \
                    '--dwp[split DWARF package]:file:_files' \
                    '--dwo-dir[folder of .dwo files, searched before the recorded paths]:dir:_files' \
                    '--oso-prefix[also look for object files of a Mach-O debug map below DIR]:dir:_files' \
                    '--symbol-server[symbol server to ask for PDBs, before those of _NT_SYMBOL_PATH]:url:' \
                    '--fetch-timeout[stop a download after this time (default]:sec:' \
                    '--fetch-limit[do not download files larger than this]:bytes:' \
                    '--no-companions[read only the input]' \
                    '*:file:_files'
                ;;
            explain)
                _arguments $help \
                    '--json[one JSON object for each address instead of text]' \
                    '(-C --demangle)'{-C,--demangle}'[show demangled names]' \
                    '--arch[image to use of a universal Mach-O file]:arch:(x86_64 arm64)' \
                    '--debug-file[use this debug file or dSYM bundle]:file:_files' \
                    '--debug-dir[search this folder for debug files instead of /usr/lib/debug]:dir:_files' \
                    '--dwp[split DWARF package]:file:_files' \
                    '--dwo-dir[folder of .dwo files, searched before the recorded paths]:dir:_files' \
                    '--oso-prefix[also look for object files of a Mach-O debug map below DIR]:dir:_files' \
                    '--symbol-server[symbol server to ask for PDBs, before those of _NT_SYMBOL_PATH]:url:' \
                    '--fetch-timeout[stop a download after this time (default]:sec:' \
                    '--fetch-limit[do not download files larger than this]:bytes:' \
                    '--no-companions[read only the input]' \
                    '*:file:_files'
                ;;
            dump)
                _arguments $help \
                    '(-s --summary)'{-s,--summary}'[show only the header]' \
                    '--json[one JSON object a line]' \
                    '(-C --demangle)'{-C,--demangle}'[show demangled names]' \
                    '--shorten-names[show names demangled and without default template arguments of the C++ library]' \
                    '--shorten-nested[the same, also inside template arguments]' \
                    '--arch[image to use of a universal Mach-O file]:arch:(x86_64 arm64)' \
                    '--debug-file[use this debug file or dSYM bundle]:file:_files' \
                    '--debug-dir[search this folder for debug files instead of /usr/lib/debug]:dir:_files' \
                    '--dwp[split DWARF package]:file:_files' \
                    '--dwo-dir[folder of .dwo files, searched before the recorded paths]:dir:_files' \
                    '--oso-prefix[also look for object files of a Mach-O debug map below DIR]:dir:_files' \
                    '--symbol-server[symbol server to ask for PDBs, before those of _NT_SYMBOL_PATH]:url:' \
                    '--fetch-timeout[stop a download after this time (default]:sec:' \
                    '--fetch-limit[do not download files larger than this]:bytes:' \
                    '--no-companions[read only the input]' \
                    '*:file:_files'
                ;;
            verify)
                _arguments $help \
                    '--against[convert this object file in memory and compare the answers]:object:_files' \
                    '(-q --quiet)'{-q,--quiet}'[print nothing]' \
                    '--arch[image to use of a universal Mach-O file]:arch:(x86_64 arm64)' \
                    '--debug-file[use this debug file or dSYM bundle]:file:_files' \
                    '--debug-dir[search this folder for debug files instead of /usr/lib/debug]:dir:_files' \
                    '--dwp[split DWARF package]:file:_files' \
                    '--dwo-dir[folder of .dwo files, searched before the recorded paths]:dir:_files' \
                    '--oso-prefix[also look for object files of a Mach-O debug map below DIR]:dir:_files' \
                    '--symbol-server[symbol server to ask for PDBs, before those of _NT_SYMBOL_PATH]:url:' \
                    '--fetch-timeout[stop a download after this time (default]:sec:' \
                    '--fetch-limit[do not download files larger than this]:bytes:' \
                    '--no-companions[read only the input]' \
                    '*:file:_files'
                ;;
            diff)
                _arguments $help \
                    '(-a --all)'{-a,--all}'[show all differences instead of the first 20 of each kind]' \
                    '--json[one JSON object with every difference]' \
                    '(-C --demangle)'{-C,--demangle}'[show demangled names]' \
                    '(-q --quiet)'{-q,--quiet}'[print nothing]' \
                    '--arch[image to use of a universal Mach-O file]:arch:(x86_64 arm64)' \
                    '--debug-file[use this debug file or dSYM bundle]:file:_files' \
                    '--debug-dir[search this folder for debug files instead of /usr/lib/debug]:dir:_files' \
                    '--dwp[split DWARF package]:file:_files' \
                    '--dwo-dir[folder of .dwo files, searched before the recorded paths]:dir:_files' \
                    '--oso-prefix[also look for object files of a Mach-O debug map below DIR]:dir:_files' \
                    '--symbol-server[symbol server to ask for PDBs, before those of _NT_SYMBOL_PATH]:url:' \
                    '--fetch-timeout[stop a download after this time (default]:sec:' \
                    '--fetch-limit[do not download files larger than this]:bytes:' \
                    '--no-companions[read only the input]' \
                    '*:file:_files'
                ;;
            stats)
                _arguments $help \
                    '--json[one JSON object]' \
                    '--html[also write a self-contained HTML page with a map of directories, files and functions]:file:_files' \
                    '(-n --top)'{-n,--top}'[number of directories, files and functions to show (default 20)]:n:' \
                    '(-C --demangle)'{-C,--demangle}'[show demangled names]' \
                    '--arch[image to use of a universal Mach-O file]:arch:(x86_64 arm64)' \
                    '--debug-file[use this debug file or dSYM bundle]:file:_files' \
                    '--debug-dir[search this folder for debug files instead of /usr/lib/debug]:dir:_files' \
                    '--dwp[split DWARF package]:file:_files' \
                    '--dwo-dir[folder of .dwo files, searched before the recorded paths]:dir:_files' \
                    '--oso-prefix[also look for object files of a Mach-O debug map below DIR]:dir:_files' \
                    '--symbol-server[symbol server to ask for PDBs, before those of _NT_SYMBOL_PATH]:url:' \
                    '--fetch-timeout[stop a download after this time (default]:sec:' \
                    '--fetch-limit[do not download files larger than this]:bytes:' \
                    '--no-companions[read only the input]' \
                    '*:file:_files'
                ;;
            accelerate)
                _arguments $help \
                    '(-o --out)'{-o,--out}'[the file to write (default]:out:_files' \
                    '(-j --threads)'{-j,--threads}'[number of threads (default 0]:n:(1 2 4 8)' \
                    '--remote-layout[for a file that is read from a server]' \
                    '(-q --quiet)'{-q,--quiet}'[print errors only]' \
                    '*:file:_files'
                ;;
            embed)
                _arguments $help \
                    '(-o --out)'{-o,--out}'[the file to write]:out:_files' \
                    '--revision[convert INDEX to a section GSYM of this revision first]:rev:(A B B-script C D E F G)' \
                    '--strings-in[when a section GSYM is made]:section:(.strtab .dynstr .debug_str)' \
                    '--loaded[load the section into memory with the program]' \
                    '--drop-signature[remove the code signature]' \
                    '--force[accept an index whose build id differs from that of OBJECT, or none of whose functions lies in its code, and data appended to OBJECT]' \
                    '--arch[image to use of a universal Mach-O file]:arch:(x86_64 arm64)' \
                    '--debug-file[use this debug file or dSYM bundle]:file:_files' \
                    '--debug-dir[search this folder for debug files instead of /usr/lib/debug]:dir:_files' \
                    '--dwp[split DWARF package]:file:_files' \
                    '--dwo-dir[folder of .dwo files, searched before the recorded paths]:dir:_files' \
                    '--oso-prefix[also look for object files of a Mach-O debug map below DIR]:dir:_files' \
                    '--symbol-server[symbol server to ask for PDBs, before those of _NT_SYMBOL_PATH]:url:' \
                    '--fetch-timeout[stop a download after this time (default]:sec:' \
                    '--fetch-limit[do not download files larger than this]:bytes:' \
                    '--no-companions[read only the input]' \
                    '*:file:_files'
                ;;
            extract)
                _arguments $help \
                    '(-o --out)'{-o,--out}'[the file to write]:out:_files' \
                    '--arch[image to use of a universal file]:arch:(x86_64 arm64)' \
                    '*:file:_files'
                ;;
            dialects)
                _arguments $help \
                    '--install[make links with the names of the programs in DIR, which is made where it is missing]:dir:_files' \
                    '*:file:_files'
                ;;
            cache)
                _arguments $help \
                    '--cache-dir[the folder (default]:dir:_files' \
                    '--json[list, verify]' \
                    '--max-bytes[prune]:size:' \
                    '(-j --threads)'{-j,--threads}'[add]:n:(1 2 4 8)' \
                    '--max-memory[add]:size:' \
                    '--debug-dir[add]:dir:_files' \
                    '--offline[add]' \
                    '(-q --quiet)'{-q,--quiet}'[add, prune]' \
                    '*:file:_files'
                ;;
            udf)
                _arguments $help \
                    '(-f --format)'{-f,--format}'[RowBinary, TSV, JSONEachRow or Arrow (IPC stream or file)]:format:' \
                    '(-s --store)'{-s,--store}'[a folder of indexes by build id (ab/cdef....gsym) or by name (NAME.gsym)]:dir:_files' \
                    '(-i --index)'{-i,--index}'[NAME=FILE   the index of modules named NAME]' \
                    '--chunk-header[a line with the number of rows is before each chunk (send_chunk_header of ClickHouse)]' \
                    '(-C --demangle)'{-C,--demangle}'[show demangled names]' \
                    '--return-addresses[addresses are return addresses]' \
                    '*:file:_files'
                ;;
            store)
                _arguments $help \
                    '--store[the store]:dir:_files' \
                    '--json[one JSON object a line]' \
                    '--layout[add]:tree:' \
                    '--max-bytes[prune]:size:' \
                    '--max-age[prune]:days:' \
                    '--keep[prune]:file:_files' \
                    '--dry-run[prune]' \
                    '--cache-dir[of a bucket]:dir:_files' \
                    '(-q --quiet)'{-q,--quiet}'[print errors only]' \
                    '*:file:_files'
                ;;
            serve)
                _arguments $help \
                    '--store[the store]:dir:_files' \
                    '--listen[ADDRESSPORT or unixPATH]:addr:' \
                    '--config[settings, one KEY = VALUE a line]:file:_files' \
                    '--upload-token-file[tokens, one a line, that may upload]:file:_files' \
                    '--read-token-file[tokens, one a line, that may read]:file:_files' \
                    '--upstream[server that is asked for what the store does not have]:url:' \
                    '--web[folder of the page and its static files]:dir:_files' \
                    '--source-root[folder below which source files stand under their paths]:dir:_files' \
                    '--layout[tree to write]:tree:' \
                    '--cache-dir[of a bucket]:dir:_files' \
                    '--tls-certificate[PEM file of the certificate]:file:_files' \
                    '--tls-key[PEM file of its private key]:file:_files' \
                    '(-j --threads)'{-j,--threads}'[threads that serve connections (default]:n:(1 2 4 8)' \
                    '--log-level[info (default), error or none]:level:' \
                    '--set[KEY=VALUE     any setting of the configuration file]' \
                    '--demo[fill an empty store with examples]' \
                    '*:file:_files'
                ;;
            help) _describe command commands ;;
        esac
        ;;
esac
