# bash completion for callsign

_callsign() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command= word options values=
    COMPREPLY=()
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        case $word in
            convert | lookup | dump | verify | diff | stats | embed | extract | help) command=$word && break ;;
        esac
    done

    case $command in
        '') COMPREPLY=($(compgen -W "convert lookup dump verify diff stats embed extract help --help --version" -- "$cur")) && return ;;
        help) COMPREPLY=($(compgen -W "convert lookup dump verify diff stats embed extract" -- "$cur")) && return ;;
        convert)
            options="-o --out --to --revision --strings-in --bsym-version --bsym-tokens --endian --segment-size -j --threads --merged-functions --call-sites --bare-patterns --mangled --shorten-names --shorten-nested --strict --max-inflate --report -q --quiet
                     --arch --debug-file --debug-dir --dwp --oso-prefix --fetch-timeout --fetch-limit --no-companions -h --help"
            case $prev in
                --to) values="gsym gsym-v2 gsym-auto gsym-section breakpad bsym" ;;
                --revision) values="A B B-script C D E F G" ;;
                --endian) values="little big" ;;
                --segment-size) values="1M 16M 256M" ;;
                --call-sites) values=dwarf ;;
                --bsym-version) values="1.0 2.0 2.1 2.2 2.3" ;;
                --bsym-tokens) values="best reference none" ;;
                -j | --threads) values="1 2 4 8" ;;
                --max-inflate) values="1G 4G 16G 64G" ;;
            esac
            ;;
        lookup) options="--json -C --demangle --merged --shorten-names --shorten-nested --llvm
                     --arch --debug-file --debug-dir --dwp --oso-prefix --fetch-timeout --fetch-limit --no-companions -h --help" ;;
        dump) options="-s --summary --json -C --demangle --shorten-names --shorten-nested
                     --arch --debug-file --debug-dir --dwp --oso-prefix --fetch-timeout --fetch-limit --no-companions -h --help" ;;
        embed) options="-o --out --revision --strings-in --loaded --drop-signature
                     --arch --debug-file --debug-dir --dwp --oso-prefix --fetch-timeout --fetch-limit --no-companions -h --help" ;;
        extract) options="-o --out --arch -h --help" ;;
        verify) options="--against -q --quiet
                     --arch --debug-file --debug-dir --dwp --oso-prefix --fetch-timeout --fetch-limit --no-companions -h --help" ;;
        diff) options="-a --all --json -C --demangle -q --quiet
                     --arch --debug-file --debug-dir --dwp --oso-prefix --fetch-timeout --fetch-limit --no-companions -h --help" ;;
        stats) options="--json --html -n --top -C --demangle
                     --arch --debug-file --debug-dir --dwp --oso-prefix --fetch-timeout --fetch-limit --no-companions -h --help" ;;
    esac
    if [ -n "$values" ]; then
        COMPREPLY=($(compgen -W "$values" -- "$cur"))
    elif [[ $cur == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$cur"))
    else
        COMPREPLY=($(compgen -f -- "$cur"))
    fi
}
complete -o filenames -F _callsign callsign
