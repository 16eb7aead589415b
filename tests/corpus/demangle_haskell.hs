-- Decodes names of Haskell's symbols with GHC's own zDecodeString: a line each, `package:Module.name (kind)`; other names stay.
-- An encoded name holds no underscore, so that underscores part package, module, name and kind.
import Data.List (intercalate, isSuffixOf)
import GHC.Utils.Encoding (zDecodeString)

kinds :: [String]
kinds = ["static_info", "con_info", "static_entry", "con_entry", "closure_tbl", "info", "closure", "entry", "ret", "slow", "fast", "bytes", "srt", "dflt", "str"]

parts :: String -> [String]
parts text = case break (== '_') text of
    (part, _ : rest) -> part : parts rest
    (part, []) -> [part]

decoded :: String -> String
decoded name = case [kind | kind <- kinds, ('_' : kind) `isSuffixOf` name] of
    kind : _ -> case parts (take (length name - length kind - 1) name) of
        [package, modul, text] -> zDecodeString package ++ ":" ++ zDecodeString modul ++ "." ++ zDecodeString text ++ " (" ++ kind ++ ")"
        [modul, text] -> zDecodeString modul ++ "." ++ zDecodeString text ++ " (" ++ kind ++ ")"
        _ -> name
    [] -> name

main :: IO ()
main = interact (unlines . map decoded . lines)
