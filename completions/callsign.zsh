#compdef callsign
# zsh completion for callsign; made by scripts/make-completions

local -a commands help
commands=(
    'convert:make an index from a program, library, debug file or index'
    'lookup:function, source line and inlined calls at addresses'
    'stack:whole call stacks, merged functions told apart by their callers'
    'explain:why the answer to an address is what it is'
    'dump:what an index holds\: header, files, functions'
    'verify:check every record of an index'
    'diff:compare two indexes by what they say'
    'stats:where the bytes of an index go'
    'embed:put an index into the program it belongs to'
    'extract:take the index out of a program that carries one'
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
                    '(-o --out)'{-o,--out}'[where to write]:out:_files' \
                    '--to[gsym (GSYM version 1), which is the default]:format:(gsym gsym-v2 gsym-auto gsym-section bsym breakpad)' \
                    '--endian[byte order of the index, little or big]:order:(little big)' \
                    '--segment-size[several indexes of about that size, OUT-0xADDRESS, and their list, OUT-manifest.json]:bytes:(1M 16M 256M)' \
                    '--revision[of gsym-section]:rev:(A B B-script C D E F G)' \
                    '--strings-in[of gsym-section]:section:(.strtab .dynstr .debug_str)' \
                    '(-j --threads)'{-j,--threads}'[how many threads work]:n:(1 2 4 8)' \
                    '--merged-functions[keep all functions that share their code, the best known on top]::mode:(aliases llvm)' \
                    '--call-sites[keep the call sites that DWARF describes]:dwarf|file:(dwarf)' \
                    '--bare-patterns[write call sites as LLVMs tool does]' \
                    '--shorten-names[store demangled names, without what the C++ librarys defaults add to them]' \
                    '--shorten-nested[the same, and within template arguments too]' \
                    '--mangled[breakpad]' \
                    '--bsym-version[--to bsym]:v:(1.0 2.0 2.1 2.2 2.3)' \
                    '--bsym-tokens[--to bsym]:table:(best reference none)' \
                    '--strict[fail when anything is dropped or damaged]' \
                    '--max-inflate[refuse compressed sections that inflate to more than this, all together (64G)]:bytes:(1G 4G 16G 64G)' \
                    '--report[what was read, merged, clipped and dropped, as JSON]:file:_files' \
                    '(-v --verbose)'{-v,--verbose}'[report what was merged, too]' \
                    '(-q --quiet)'{-q,--quiet}'[no progress bar, no summary]' \
                    '--arch[which image of a universal Mach-O file]:arch:(x86_64 arm64)' \
                    '--debug-file[the images debug file or dSYM bundle]:file:_files' \
                    '--debug-dir[root of debug files, instead of /usr/lib/debug]:dir:_files' \
                    '--dwp[package of split DWARF]:file:_files' \
                    '--dwo-dir[folder of .dwo files, looked into before the places that the input names]:dir:_files' \
                    '--oso-prefix[put in front of the paths of object files that a Mach-O debug map names]:dir:_files' \
                    '--fetch-timeout[give up a download from the servers of DEBUGINFOD_URLS after this time]:sec:' \
                    '--fetch-limit[download no file larger than this]:bytes:' \
                    '--no-companions[read the input alone]' \
                    '*:file:_files'
                ;;
            lookup)
                _arguments $help \
                    '--json[one JSON object a line instead of text]' \
                    '(-C --demangle)'{-C,--demangle}'[C++, Rust and D names as in the source]' \
                    '--merged[list all functions that share the code at an address, where the index has them (convert --merged-functions)]' \
                    '--shorten-names[demangled names without what the C++ librarys defaults add to them]' \
                    '--shorten-nested[the same, and within template arguments too]' \
                    '--llvm[answer as LLVMs reader does]' \
                    '(-j --threads)'{-j,--threads}'[how many threads answer what comes on standard input]:n:(1 2 4 8)' \
                    '--arch[which image of a universal Mach-O file]:arch:(x86_64 arm64)' \
                    '--debug-file[the images debug file or dSYM bundle]:file:_files' \
                    '--debug-dir[root of debug files, instead of /usr/lib/debug]:dir:_files' \
                    '--dwp[package of split DWARF]:file:_files' \
                    '--dwo-dir[folder of .dwo files, looked into before the places that the input names]:dir:_files' \
                    '--oso-prefix[put in front of the paths of object files that a Mach-O debug map names]:dir:_files' \
                    '--fetch-timeout[give up a download from the servers of DEBUGINFOD_URLS after this time]:sec:' \
                    '--fetch-limit[download no file larger than this]:bytes:' \
                    '--no-companions[read the input alone]' \
                    '*:file:_files'
                ;;
            stack)
                _arguments $help \
                    '(-i --index)'{-i,--index}'[an index or object file]:file:_files' \
                    '(-s --symbols)'{-s,--symbols}'[a folder of indexes by build id (ab/cdef....gsym), as Breakpad stores are (NAME/ID/NAME.sym), or by name (NAME.gsym)]:dir:_files' \
                    '(-f --format)'{-f,--format}'[of the input]:format:' \
                    '--json[one JSON object for each stack instead of text]' \
                    '--in-place[the input again, its frames filled in]' \
                    '--explain[why each name was chosen]' \
                    '(-C --demangle)'{-C,--demangle}'[C++, Rust and D names as in the source]' \
                    '--max-frames[longest stack that is answered]:n:' \
                    '--cache[memory for answers that may come again]:size:' \
                    '*:file:_files'
                ;;
            explain)
                _arguments $help \
                    '--json[one JSON object for each address instead of text]' \
                    '(-C --demangle)'{-C,--demangle}'[C++, Rust and D names as in the source]' \
                    '--arch[which image of a universal Mach-O file]:arch:(x86_64 arm64)' \
                    '--debug-file[the images debug file or dSYM bundle]:file:_files' \
                    '--debug-dir[root of debug files, instead of /usr/lib/debug]:dir:_files' \
                    '--dwp[package of split DWARF]:file:_files' \
                    '--dwo-dir[folder of .dwo files, looked into before the places that the input names]:dir:_files' \
                    '--oso-prefix[put in front of the paths of object files that a Mach-O debug map names]:dir:_files' \
                    '--fetch-timeout[give up a download from the servers of DEBUGINFOD_URLS after this time]:sec:' \
                    '--fetch-limit[download no file larger than this]:bytes:' \
                    '--no-companions[read the input alone]' \
                    '*:file:_files'
                ;;
            dump)
                _arguments $help \
                    '(-s --summary)'{-s,--summary}'[the header only]' \
                    '--json[one JSON object a line]' \
                    '(-C --demangle)'{-C,--demangle}'[C++, Rust and D names as in the source]' \
                    '--shorten-names[demangled names without what the C++ librarys defaults add to them]' \
                    '--shorten-nested[the same, and within template arguments too]' \
                    '--arch[which image of a universal Mach-O file]:arch:(x86_64 arm64)' \
                    '--debug-file[the images debug file or dSYM bundle]:file:_files' \
                    '--debug-dir[root of debug files, instead of /usr/lib/debug]:dir:_files' \
                    '--dwp[package of split DWARF]:file:_files' \
                    '--dwo-dir[folder of .dwo files, looked into before the places that the input names]:dir:_files' \
                    '--oso-prefix[put in front of the paths of object files that a Mach-O debug map names]:dir:_files' \
                    '--fetch-timeout[give up a download from the servers of DEBUGINFOD_URLS after this time]:sec:' \
                    '--fetch-limit[download no file larger than this]:bytes:' \
                    '--no-companions[read the input alone]' \
                    '*:file:_files'
                ;;
            verify)
                _arguments $help \
                    '--against[convert this object file in memory and compare the answers]:object:_files' \
                    '(-q --quiet)'{-q,--quiet}'[print nothing]' \
                    '--arch[which image of a universal Mach-O file]:arch:(x86_64 arm64)' \
                    '--debug-file[the images debug file or dSYM bundle]:file:_files' \
                    '--debug-dir[root of debug files, instead of /usr/lib/debug]:dir:_files' \
                    '--dwp[package of split DWARF]:file:_files' \
                    '--dwo-dir[folder of .dwo files, looked into before the places that the input names]:dir:_files' \
                    '--oso-prefix[put in front of the paths of object files that a Mach-O debug map names]:dir:_files' \
                    '--fetch-timeout[give up a download from the servers of DEBUGINFOD_URLS after this time]:sec:' \
                    '--fetch-limit[download no file larger than this]:bytes:' \
                    '--no-companions[read the input alone]' \
                    '*:file:_files'
                ;;
            diff)
                _arguments $help \
                    '(-a --all)'{-a,--all}'[every difference, not the first 20 of each kind]' \
                    '--json[one JSON object with every difference]' \
                    '(-C --demangle)'{-C,--demangle}'[show C++, Rust and D names as in the source]' \
                    '(-q --quiet)'{-q,--quiet}'[print nothing]' \
                    '--arch[which image of a universal Mach-O file]:arch:(x86_64 arm64)' \
                    '--debug-file[the images debug file or dSYM bundle]:file:_files' \
                    '--debug-dir[root of debug files, instead of /usr/lib/debug]:dir:_files' \
                    '--dwp[package of split DWARF]:file:_files' \
                    '--dwo-dir[folder of .dwo files, looked into before the places that the input names]:dir:_files' \
                    '--oso-prefix[put in front of the paths of object files that a Mach-O debug map names]:dir:_files' \
                    '--fetch-timeout[give up a download from the servers of DEBUGINFOD_URLS after this time]:sec:' \
                    '--fetch-limit[download no file larger than this]:bytes:' \
                    '--no-companions[read the input alone]' \
                    '*:file:_files'
                ;;
            stats)
                _arguments $help \
                    '--json[one JSON object]' \
                    '--html[also write a page with a map of directories, files and functions to click through]:file:_files' \
                    '(-n --top)'{-n,--top}'[how many directories, files and functions to show (20)]:n:' \
                    '(-C --demangle)'{-C,--demangle}'[C++, Rust and D names as in the source]' \
                    '--arch[which image of a universal Mach-O file]:arch:(x86_64 arm64)' \
                    '--debug-file[the images debug file or dSYM bundle]:file:_files' \
                    '--debug-dir[root of debug files, instead of /usr/lib/debug]:dir:_files' \
                    '--dwp[package of split DWARF]:file:_files' \
                    '--dwo-dir[folder of .dwo files, looked into before the places that the input names]:dir:_files' \
                    '--oso-prefix[put in front of the paths of object files that a Mach-O debug map names]:dir:_files' \
                    '--fetch-timeout[give up a download from the servers of DEBUGINFOD_URLS after this time]:sec:' \
                    '--fetch-limit[download no file larger than this]:bytes:' \
                    '--no-companions[read the input alone]' \
                    '*:file:_files'
                ;;
            embed)
                _arguments $help \
                    '(-o --out)'{-o,--out}'[where to write]:out:_files' \
                    '--revision[make a section GSYM of 2017 of INDEX first]:rev:(A B B-script C D E F G)' \
                    '--strings-in[where a section GSYM is made]:section:(.strtab .dynstr .debug_str)' \
                    '--loaded[load the section with the program, where that can be done]' \
                    '--drop-signature[remove a code signature, which the change makes void]' \
                    '--force[also an index of another build than OBJECT]' \
                    '--arch[which image of a universal Mach-O file]:arch:(x86_64 arm64)' \
                    '--debug-file[the images debug file or dSYM bundle]:file:_files' \
                    '--debug-dir[root of debug files, instead of /usr/lib/debug]:dir:_files' \
                    '--dwp[package of split DWARF]:file:_files' \
                    '--dwo-dir[folder of .dwo files, looked into before the places that the input names]:dir:_files' \
                    '--oso-prefix[put in front of the paths of object files that a Mach-O debug map names]:dir:_files' \
                    '--fetch-timeout[give up a download from the servers of DEBUGINFOD_URLS after this time]:sec:' \
                    '--fetch-limit[download no file larger than this]:bytes:' \
                    '--no-companions[read the input alone]' \
                    '*:file:_files'
                ;;
            extract)
                _arguments $help \
                    '(-o --out)'{-o,--out}'[where to write]:out:_files' \
                    '--arch[which image of a universal file]:arch:(x86_64 arm64)' \
                    '*:file:_files'
                ;;
            help) _describe command commands ;;
        esac
        ;;
esac
