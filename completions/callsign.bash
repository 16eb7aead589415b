# bash completion for callsign; made by scripts/make-completions

_callsign() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command= word options values=
    COMPREPLY=()
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        case $word in
            convert | lookup | stack | profile | find | explain | dump | verify | diff | stats | accelerate | embed | extract | dialects | cache | udf | store | serve | help) command=$word && break ;;
        esac
    done

    case $command in
        '') COMPREPLY=($(compgen -W "convert lookup stack profile find explain dump verify diff stats accelerate embed extract dialects cache udf store serve help --help --version" -- "$cur")) && return ;;
        help) COMPREPLY=($(compgen -W "convert lookup stack profile find explain dump verify diff stats accelerate embed extract dialects cache udf store serve" -- "$cur")) && return ;;
        convert)
            options="-o --out --to --endian --segment-size --revision --strings-in -j --threads --merged-functions --call-sites --bare-patterns --shorten-names --shorten-nested --mangled --no-cfi --bsym-version --bsym-tokens --name-table --accelerate --remote-layout --strict --max-inflate --report -v --verbose -q --quiet --arch --debug-file --debug-dir --dwp --dwo-dir --oso-prefix --symbol-server --fetch-timeout --fetch-limit --no-companions -h --help"
            case $prev in
                --to) values="gsym gsym-v2 gsym-auto gsym-section bsym breakpad" ;;
                --endian) values="little big" ;;
                --segment-size) values="1M 16M 256M" ;;
                --revision) values="A B B-script C D E F G" ;;
                --strings-in) values=".strtab .dynstr .debug_str" ;;
                -j | --threads) values="1 2 4 8" ;;
                --merged-functions) values="aliases llvm" ;;
                --call-sites) values="dwarf" ;;
                --bsym-version) values="1.0 2.0 2.1 2.2 2.3" ;;
                --bsym-tokens) values="best reference none" ;;
                --max-inflate) values="1G 4G 16G 64G" ;;
                --arch) values="x86_64 arm64" ;;
            esac
            ;;
        lookup)
            options="--json -C --demangle --merged --shorten-names --shorten-nested --llvm --load-address --slide --pid --maps --return-addresses -j --threads --offline --cache-dir --no-cache --arch --debug-file --debug-dir --dwp --dwo-dir --oso-prefix --symbol-server --fetch-timeout --fetch-limit --no-companions -h --help"
            case $prev in
                -j | --threads) values="1 2 4 8" ;;
                --arch) values="x86_64 arm64" ;;
            esac
            ;;
        stack)
            options="-i --index -s --symbols -f --format --json --in-place --explain -C --demangle -j --threads --max-frames --cache --no-search --debug-dir --offline --cache-dir --no-cache -h --help"
            case $prev in
                -j | --threads) values="1 2 4 8" ;;
            esac
            ;;
        profile)
            options="-o --out --from --to -i --index -s --symbols --no-demangle --title --explain -q --quiet --no-search --debug-dir --offline --cache-dir --no-cache -h --help"
            case $prev in
                --from) values="pprof firefox otlp otlp-json legacy perf-script folded" ;;
                --to) values="pprof firefox otlp otlp-json perf-script folded html" ;;
            esac
            ;;
        find)
            options="--json -C --demangle --offline --cache-dir --no-cache --arch --debug-file --debug-dir --dwp --dwo-dir --oso-prefix --symbol-server --fetch-timeout --fetch-limit --no-companions -h --help"
            case $prev in
                --arch) values="x86_64 arm64" ;;
            esac
            ;;
        explain)
            options="--json -C --demangle --arch --debug-file --debug-dir --dwp --dwo-dir --oso-prefix --symbol-server --fetch-timeout --fetch-limit --no-companions -h --help"
            case $prev in
                --arch) values="x86_64 arm64" ;;
            esac
            ;;
        dump)
            options="-s --summary --json -C --demangle --shorten-names --shorten-nested --arch --debug-file --debug-dir --dwp --dwo-dir --oso-prefix --symbol-server --fetch-timeout --fetch-limit --no-companions -h --help"
            case $prev in
                --arch) values="x86_64 arm64" ;;
            esac
            ;;
        verify)
            options="--against -q --quiet --arch --debug-file --debug-dir --dwp --dwo-dir --oso-prefix --symbol-server --fetch-timeout --fetch-limit --no-companions -h --help"
            case $prev in
                --arch) values="x86_64 arm64" ;;
            esac
            ;;
        diff)
            options="-a --all --json -C --demangle -q --quiet --arch --debug-file --debug-dir --dwp --dwo-dir --oso-prefix --symbol-server --fetch-timeout --fetch-limit --no-companions -h --help"
            case $prev in
                --arch) values="x86_64 arm64" ;;
            esac
            ;;
        stats)
            options="--json --html -n --top -C --demangle --arch --debug-file --debug-dir --dwp --dwo-dir --oso-prefix --symbol-server --fetch-timeout --fetch-limit --no-companions -h --help"
            case $prev in
                --arch) values="x86_64 arm64" ;;
            esac
            ;;
        accelerate)
            options="-o --out -j --threads --remote-layout -q --quiet -h --help"
            case $prev in
                -j | --threads) values="1 2 4 8" ;;
            esac
            ;;
        embed)
            options="-o --out --revision --strings-in --loaded --drop-signature --force --arch --debug-file --debug-dir --dwp --dwo-dir --oso-prefix --symbol-server --fetch-timeout --fetch-limit --no-companions -h --help"
            case $prev in
                --revision) values="A B B-script C D E F G" ;;
                --strings-in) values=".strtab .dynstr .debug_str" ;;
                --arch) values="x86_64 arm64" ;;
            esac
            ;;
        extract)
            options="-o --out --arch -h --help"
            case $prev in
                --arch) values="x86_64 arm64" ;;
            esac
            ;;
        dialects)
            options="--install -h --help"
            ;;
        cache)
            options="--cache-dir --json --max-bytes -j --threads --max-memory --debug-dir --offline -q --quiet -h --help"
            case $prev in
                -j | --threads) values="1 2 4 8" ;;
            esac
            ;;
        udf)
            options="-f --format -s --store -i --index --chunk-header -C --demangle --return-addresses -h --help"
            ;;
        store)
            options="--store --json --layout --max-bytes --max-age --keep --dry-run --cache-dir -q --quiet -h --help"
            ;;
        serve)
            options="--store --listen --config --upload-token-file --read-token-file --upstream --web --source-root --layout --cache-dir --tls-certificate --tls-key -j --threads --log-level --set --demo -h --help"
            case $prev in
                -j | --threads) values="1 2 4 8" ;;
            esac
            ;;
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
