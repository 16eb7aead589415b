package callsign

// #include <callsign/callsign.h>
import "C"

import (
	"sync"
	"unsafe"
)

// Module is a loaded image: its index, where it lies in the process, and its load bias (address = pc - bias).
type Module struct {
	Index      *Index // nil: there is none
	Start, End uint64 // the pcs that it covers, half-open. Equal if frames name the module by its number
	Bias       uint64
}

// StackFrame is one frame of a stack: a pc of the process, or an address of a module's image.
type StackFrame struct {
	PC        uint64
	IsAddress bool // PC is an address of the image of modules[Module]
	Module    uint32
	Exact     bool // PC is the interrupted instruction and no return address. Frame 0 is taken as one anyway
}

// Choice tells how the name of a frame was chosen.
type Choice uint32

// The ways.
const (
	ChoiceNone      Choice = C.CSN_CHOICE_NONE      // no name is known for the address
	ChoiceOnly      Choice = C.CSN_CHOICE_ONLY      // there is only one name
	ChoiceCaller    Choice = C.CSN_CHOICE_CALLER    // the caller's call site names this function
	ChoiceOuter     Choice = C.CSN_CHOICE_OUTER     // an external call site of an outer frame names it
	ChoicePattern   Choice = C.CSN_CHOICE_PATTERN   // the caller's call site allows several names, of which one is a candidate
	ChoiceAmbiguous Choice = C.CSN_CHOICE_AMBIGUOUS // several candidates remain
)

// Confidence tells how reliable a choice is; more is better.
type Confidence uint32

// The degrees.
const (
	ConfidenceNone    Confidence = C.CSN_CONFIDENCE_NONE
	ConfidenceLow     Confidence = C.CSN_CONFIDENCE_LOW
	ConfidenceMedium  Confidence = C.CSN_CONFIDENCE_MEDIUM
	ConfidenceHigh    Confidence = C.CSN_CONFIDENCE_HIGH
	ConfidenceCertain Confidence = C.CSN_CONFIDENCE_CERTAIN
)

// StackAnswer is the answer for one frame of a stack.
type StackAnswer struct {
	Address    uint64 // of the image; the pc if no module covers it
	Module     int    // number of the module; -1: none covers the frame
	Frames     []Frame
	Reason     string   // empty if nothing is missing
	Error      string   // why the function's record cannot be read; empty if it can
	Candidates []string // the distinct names at the address
	Chosen     int      // the one of them that the callers decide for; -1: none
	Choice     Choice
	Confidence Confidence
}

// Symbolicator answers whole stacks and tells merged functions apart by the callers. It holds the working memory and serves one goroutine
// at a time; several symbolicators may share indexes.
type Symbolicator struct {
	mutex   sync.Mutex
	raw     *C.struct_csn_symbolicator
	indexes []*Index // kept open until Close
}

// NewSymbolicator makes a symbolicator for these modules. Their indexes cannot be closed before it: Index.Close waits.
func NewSymbolicator(modules []Module) (*Symbolicator, error) {
	symbolicator := &Symbolicator{}
	var err C.struct_csn_error
	if failed := makeError(C.csn_symbolicator_create(nil, &symbolicator.raw, &err), &err, ""); failed != nil {
		return nil, failed
	}
	if failed := symbolicator.setModules(modules); failed != nil {
		symbolicator.Close()
		return nil, failed
	}
	return symbolicator, nil
}

func (s *Symbolicator) setModules(modules []Module) error {
	raw := make([]C.struct_csn_module, len(modules)+1)
	held := map[*Index]bool{}
	for i, module := range modules {
		raw[i] = C.struct_csn_module{start: C.uint64_t(module.Start), end: C.uint64_t(module.End), bias: C.uint64_t(module.Bias)}
		if module.Index == nil {
			continue
		}
		if !held[module.Index] {
			if failed := module.Index.hold(); failed != nil {
				return failed
			}
			s.indexes = append(s.indexes, module.Index)
			held[module.Index] = true
		}
		raw[i].index = module.Index.raw
	}
	var err C.struct_csn_error
	return makeError(C.csn_symbolicator_set_modules(s.raw, &raw[0], C.size_t(len(modules)), &err), &err, "")
}

// Close releases the symbolicator; its indexes may be closed then. Closing twice does nothing.
func (s *Symbolicator) Close() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	C.csn_symbolicator_destroy(s.raw)
	s.raw = nil
	for _, index := range s.indexes {
		index.release()
	}
	s.indexes = nil
	return nil
}

// Answer symbolicates a stack, innermost frame first. All frames but the first are return addresses: the byte before is looked up. Unknown
// frames are no error.
func (s *Symbolicator) Answer(stack []StackFrame) ([]StackAnswer, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.raw == nil {
		return nil, ErrClosed
	}
	raw := make([]C.struct_csn_stack_frame, len(stack)+1)
	for i, frame := range stack {
		raw[i] = C.struct_csn_stack_frame{pc: C.uint64_t(frame.PC), module: C.uint32_t(frame.Module)}
		if frame.IsAddress {
			raw[i].flags |= C.CSN_STACK_ADDRESS
		}
		if frame.Exact {
			raw[i].flags |= C.CSN_STACK_EXACT
		}
	}
	var out *C.struct_csn_stack_answer
	var err C.struct_csn_error
	if failed := makeError(C.csn_symbolicator_answer(s.raw, &raw[0], C.size_t(len(stack)), &out, &err), &err, ""); failed != nil {
		return nil, failed
	}
	answers := make([]StackAnswer, len(stack))
	for i, answer := range unsafe.Slice(out, len(stack)) {
		answers[i] = makeStackAnswer(&answer)
	}
	return answers, nil
}

func makeStackAnswer(raw *C.struct_csn_stack_answer) StackAnswer {
	answer := StackAnswer{Address: uint64(raw.addr), Module: -1, Reason: reasonText(uint32(raw.reason)), Chosen: -1, Choice: Choice(raw.choice),
		Confidence: Confidence(raw.confidence)}
	if raw.module != ^C.uint32_t(0) {
		answer.Module = int(raw.module)
	}
	if raw.chosen != C.CSN_NOT_CHOSEN {
		answer.Chosen = int(raw.chosen)
	}
	if raw.error != nil {
		answer.Error = C.GoString(raw.error)
	}
	for _, frame := range unsafe.Slice(raw.frames, raw.frame_count) {
		answer.Frames = append(answer.Frames, makeFrame(&frame))
	}
	for _, name := range unsafe.Slice(raw.candidates, raw.candidate_count) {
		answer.Candidates = append(answer.Candidates, goString(name))
	}
	return answer
}
