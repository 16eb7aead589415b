#compdef callsign

local -a commands help
commands=(
    'convert:make an index from a program, library or debug file'
    'lookup:function, source line and inlined calls at addresses'
    'stack:whole call stacks, merged functions told apart'
    'explain:why the answer to an address is what it is'
    'dump:show what an index holds'
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
                    '(-o --out)'{-o,--out}'[where to write]:index:_files' \
                    '--to[format of the index]:format:(gsym gsym-v2 gsym-auto gsym-section breakpad bsym)' \
                    '--revision[revision of a section GSYM]:revision:(A B B-script C D E F G)' \
                    '--strings-in[section whose strings are shared]:section:(.strtab .dynstr .debug_str)' \
                    '--endian[byte order of the index]:order:(little big)' \
                    '--segment-size[size of each of several indexes]:bytes:' \
                    '(-j --threads)'{-j,--threads}'[how many threads work]:count:' \
                    '--shorten-names[names without what the C++ library adds to them]' \
                    '--shorten-nested[the same within template arguments]' \
                    '--bsym-version[version of BSYM]:version:(1.0 2.0 2.1 2.2 2.3)' \
                    '--bsym-tokens[token table of BSYM]:table:(best reference none)' \
                    '--mangled[breakpad\: keep names mangled]' \
                    '--merged-functions[keep all functions that share their code]::mode:(aliases llvm)' \
                    '*--call-sites[keep call sites]:source:_files' \
                    '--bare-patterns[write call sites as LLVM'"'"'s tool does]' \
                    '--strict[fail when anything is dropped or damaged]' \
                    '--max-inflate[limit of what compressed sections inflate to]:bytes:' \
                    '--report[write a report as JSON]:file:_files' \
                    '(-q --quiet)'{-q,--quiet}'[errors only]' \
                    '--arch[which image of a universal file]:arch:(x86_64 arm64)' \
                    '--debug-file[debug file or dSYM bundle of the image]:file:_files' \
                    '*--debug-dir[root of debug files]:folder:_files -/' \
                    '*--dwp[package of split DWARF]:file:_files' \
                    '--oso-prefix[put before paths of a debug map]:folder:_files -/' \
                    '--fetch-timeout[seconds for a download]:seconds:' \
                    '--fetch-limit[size of a download]:bytes:' \
                    '--no-companions[look for no other file]' \
                    '1:input:_files'
                ;;
            lookup)
                _arguments $help \
                    '--json[one JSON object a line]' \
                    '(-C --demangle)'{-C,--demangle}'[names as in the source]' \
                    '--shorten-names[names without what the C++ library adds to them]' \
                    '--shorten-nested[the same within template arguments]' \
                    '--merged[list all functions that share the code]' \
                    "--llvm[answer as LLVM's reader does]" \
                    '--arch[which image of a universal file]:arch:(x86_64 arm64)' \
                    '--debug-file[debug file or dSYM bundle of the image]:file:_files' \
                    '*--debug-dir[root of debug files]:folder:_files -/' \
                    '*--dwp[package of split DWARF]:file:_files' \
                    '--oso-prefix[put before paths of a debug map]:folder:_files -/' \
                    '--fetch-timeout[seconds for a download]:seconds:' \
                    '--fetch-limit[size of a download]:bytes:' \
                    '--no-companions[look for no other file]' \
                    '1:index:_files' '*:address:'
                ;;
            stack)
                _arguments $help \
                    '*'{-i,--index}'[an index or object file]:file:_files' \
                    '*'{-s,--symbols}'[folder of indexes by build id]:folder:_files -/' \
                    '(-f --format)'{-f,--format}'[kind of the input]:format:(json ips plain perf sanitizer kernel go crash)' \
                    '--json[one JSON object for each stack]' \
                    '--in-place[the input again, its frames filled in]' \
                    '--explain[why each name was chosen]' \
                    '(-C --demangle)'{-C,--demangle}'[names as in the source]' \
                    '--max-frames[longest stack that is answered]:count:' \
                    '--cache[memory for answers that may come again]:size:' \
                    '*:file:_files'
                ;;
            explain)
                _arguments $help \
                    '--json[one JSON object a line]' \
                    '(-C --demangle)'{-C,--demangle}'[names as in the source]' \
                    '--debug-file[debug file or dSYM bundle of the image]:file:_files' \
                    '*--debug-dir[root of debug files]:folder:_files -/' \
                    '*--dwp[package of split DWARF]:file:_files' \
                    '--oso-prefix[put before paths of a debug map]:folder:_files -/' \
                    '--fetch-timeout[seconds for a download]:seconds:' \
                    '--fetch-limit[size of a download]:bytes:' \
                    '--no-companions[look for no other file]' \
                    '1:index:_files' '*:address:'
                ;;
            dump)
                _arguments $help \
                    '(-s --summary)'{-s,--summary}'[the header only]' \
                    '--json[one JSON object a line]' \
                    '(-C --demangle)'{-C,--demangle}'[names as in the source]' \
                    '--shorten-names[names without what the C++ library adds to them]' \
                    '--shorten-nested[the same within template arguments]' \
                    '--arch[which image of a universal file]:arch:(x86_64 arm64)' \
                    '--debug-file[debug file or dSYM bundle of the image]:file:_files' \
                    '*--debug-dir[root of debug files]:folder:_files -/' \
                    '*--dwp[package of split DWARF]:file:_files' \
                    '--oso-prefix[put before paths of a debug map]:folder:_files -/' \
                    '--fetch-timeout[seconds for a download]:seconds:' \
                    '--fetch-limit[size of a download]:bytes:' \
                    '--no-companions[look for no other file]' \
                    '1:index:_files' '*:address:'
                ;;
            verify)
                _arguments $help \
                    '--against[the object that it was made from]:object:_files' \
                    '(-q --quiet)'{-q,--quiet}'[print nothing]' \
                    '--arch[which image of a universal file]:arch:(x86_64 arm64)' \
                    '--debug-file[debug file or dSYM bundle of the image]:file:_files' \
                    '*--debug-dir[root of debug files]:folder:_files -/' \
                    '*--dwp[package of split DWARF]:file:_files' \
                    '--oso-prefix[put before paths of a debug map]:folder:_files -/' \
                    '--fetch-timeout[seconds for a download]:seconds:' \
                    '--fetch-limit[size of a download]:bytes:' \
                    '--no-companions[look for no other file]' \
                    '1:index:_files'
                ;;
            diff)
                _arguments $help \
                    '(-a --all)'{-a,--all}'[every difference]' \
                    '--json[one JSON object]' \
                    '(-C --demangle)'{-C,--demangle}'[names as in the source]' \
                    '(-q --quiet)'{-q,--quiet}'[print nothing]' \
                    '--arch[which image of a universal file]:arch:(x86_64 arm64)' \
                    '--debug-file[debug file or dSYM bundle of the image]:file:_files' \
                    '*--debug-dir[root of debug files]:folder:_files -/' \
                    '*--dwp[package of split DWARF]:file:_files' \
                    '--oso-prefix[put before paths of a debug map]:folder:_files -/' \
                    '--fetch-timeout[seconds for a download]:seconds:' \
                    '--fetch-limit[size of a download]:bytes:' \
                    '--no-companions[look for no other file]' \
                    '1:index:_files' '2:index:_files'
                ;;
            stats)
                _arguments $help \
                    '--json[one JSON object]' \
                    '--html[also write a page with a map]:file:_files' \
                    '(-n --top)'{-n,--top}'[how many to show]:count:' \
                    '(-C --demangle)'{-C,--demangle}'[names as in the source]' \
                    '--arch[which image of a universal file]:arch:(x86_64 arm64)' \
                    '--debug-file[debug file or dSYM bundle of the image]:file:_files' \
                    '*--debug-dir[root of debug files]:folder:_files -/' \
                    '*--dwp[package of split DWARF]:file:_files' \
                    '--oso-prefix[put before paths of a debug map]:folder:_files -/' \
                    '--fetch-timeout[seconds for a download]:seconds:' \
                    '--fetch-limit[size of a download]:bytes:' \
                    '--no-companions[look for no other file]' \
                    '1:index:_files'
                ;;
            embed)
                _arguments $help \
                    '(-o --out)'{-o,--out}'[where to write]:file:_files' \
                    '--revision[make a section GSYM first]:revision:(A B B-script C D E F G)' \
                    '--strings-in[section whose strings are shared]:section:(.strtab .dynstr .debug_str)' \
                    '--loaded[load the section with the program]' \
                    '--drop-signature[remove a code signature]' \
                    '--arch[which image of a universal file]:arch:(x86_64 arm64)' \
                    '--debug-file[debug file or dSYM bundle of the image]:file:_files' \
                    '*--debug-dir[root of debug files]:folder:_files -/' \
                    '*--dwp[package of split DWARF]:file:_files' \
                    '--oso-prefix[put before paths of a debug map]:folder:_files -/' \
                    '--fetch-timeout[seconds for a download]:seconds:' \
                    '--fetch-limit[size of a download]:bytes:' \
                    '--no-companions[look for no other file]' \
                    '1:index:_files' '2:object:_files'
                ;;
            extract)
                _arguments $help \
                    '(-o --out)'{-o,--out}'[where to write]:file:_files' \
                    '--arch[which image of a universal file]:arch:(x86_64 arm64)' \
                    '1:object:_files'
                ;;
            help) _describe command commands ;;
        esac
        ;;
esac
