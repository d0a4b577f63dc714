//! Fuses access chains. rust-gpu goes to a buffer's array in one chain and to the element in the next; two chains in a
//! row mean the same as one. Validation layers of 2023 look through a single chain only when they find out which
//! buffers a shader writes, so without this they would not see a missing barrier.

use rspirv::binary::Assemble;
use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{Op, Word};
use std::collections::{HashMap, HashSet};

fn is_chain(instruction: &Instruction) -> bool {
    matches!(instruction.class.opcode, Op::AccessChain | Op::InBoundsAccessChain)
}

/// The module with every chain starting at a variable.
pub fn access_chains(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut spirv = rspirv::dr::load_bytes(bytes).map_err(|e| e.to_string())?;
    let mut chains: HashMap<Word, Vec<Operand>> = HashMap::new();
    for instruction in spirv.all_inst_iter_mut() {
        let Some(result) = instruction.result_id.filter(|_| is_chain(instruction)) else { continue };
        // Definitions come before uses in the order of blocks, so the base is already in its final form.
        if let Some(Operand::IdRef(base)) = instruction.operands.first()
            && let Some(prefix) = chains.get(base)
        {
            instruction.operands.splice(..1, prefix.iter().cloned());
        }
        chains.insert(result, instruction.operands.clone());
    }
    // What is left over of the first chains has no use any more.
    let used: HashSet<Word> = spirv
        .all_inst_iter()
        .flat_map(|i| &i.operands)
        .filter_map(|o| if let Operand::IdRef(id) = o { Some(*id) } else { None })
        .collect();
    for block in spirv.functions.iter_mut().flat_map(|f| &mut f.blocks) {
        block.instructions.retain(|i| !is_chain(i) || i.result_id.is_some_and(|id| used.contains(&id)));
    }
    Ok(spirv.assemble().into_iter().flat_map(u32::to_le_bytes).collect())
}
