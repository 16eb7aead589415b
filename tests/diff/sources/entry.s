# Assembly with debug information of its own (-g): a function, a label without type or size, a local function.
    .section .note.GNU-stack,"",@progbits
    .text
    .globl asm_add
    .type asm_add, @function
asm_add:
    leal (%rdi,%rsi), %eax
    testl %eax, %eax
    js asm_label
    ret
    .size asm_add, . - asm_add

    .globl asm_label
asm_label:
    negl %eax
    ret

    .type asm_local, @function
asm_local:
    nop
    nop
    ret
    .size asm_local, . - asm_local
