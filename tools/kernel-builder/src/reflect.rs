//! What a compiled module really offers: workgroup size, push constants, and how each binding is used, found by
//! following every pointer back to its variable. Declared and real access must agree, since barriers rest on it.

use drystone_kernels::gpu::{Access, Stage};
use drystone_kernels::manifest::{Bound, Module};
use rspirv::dr::{Instruction, Module as Spirv, Operand};
use rspirv::spirv::{Decoration, ExecutionMode, Op, StorageClass, Word};
use std::collections::HashMap;

/// Describes the module of `stage`; bytes and hash are left to the caller.
pub fn module(stage: &Stage, bytes: &[u8]) -> Result<Module, String> {
    let spirv = rspirv::dr::load_bytes(bytes).map_err(|e| e.to_string())?;
    let names: Vec<_> = spirv.entry_points.iter().filter_map(|e| text(e, 2)).collect();
    if names != [stage.name] {
        return Err(format!("entry points {names:?} instead of one named after the stage"));
    }
    let view = View::new(&spirv);
    let mut bindings = view.bindings()?;
    bindings.sort_by_key(|b| b.number);
    for bound in &mut bindings {
        let declared = stage.bindings.iter().find(|b| b.number == bound.number);
        bound.name = declared.map_or("undeclared", |b| b.name).to_owned();
    }
    Ok(Module {
        stage: stage.name.to_owned(),
        threads: view.threads()?,
        push: view.push_size()?,
        bytes: 0,
        hash: 0,
        bindings,
    })
}

struct View<'a> {
    spirv: &'a Spirv,
    globals: HashMap<Word, &'a Instruction>,
}

fn id(instruction: &Instruction, operand: usize) -> Option<Word> {
    match instruction.operands.get(operand)? {
        Operand::IdRef(id) => Some(*id),
        _ => None,
    }
}

fn number(instruction: &Instruction, operand: usize) -> Option<u32> {
    match instruction.operands.get(operand)? {
        Operand::LiteralBit32(value) => Some(*value),
        _ => None,
    }
}

fn text(instruction: &Instruction, operand: usize) -> Option<&str> {
    match instruction.operands.get(operand)? {
        Operand::LiteralString(value) => Some(value),
        _ => None,
    }
}

impl<'a> View<'a> {
    fn new(spirv: &'a Spirv) -> Self {
        let globals = spirv.types_global_values.iter().filter_map(|i| Some((i.result_id?, i))).collect();
        Self { spirv, globals }
    }

    fn global(&self, id: Word) -> Result<&'a Instruction, String> {
        self.globals.get(&id).copied().ok_or_else(|| format!("id {id} is not defined"))
    }

    fn threads(&self) -> Result<u32, String> {
        let mode = self
            .spirv
            .execution_modes
            .iter()
            .find(|i| i.operands.get(1) == Some(&Operand::ExecutionMode(ExecutionMode::LocalSize)));
        mode.and_then(|i| Some(number(i, 2)? * number(i, 3)? * number(i, 4)?))
            .ok_or_else(|| "no literal workgroup size".to_owned())
    }

    fn variables(&self, class: StorageClass) -> impl Iterator<Item = (Word, &'a Instruction)> {
        self.spirv.types_global_values.iter().filter_map(move |i| {
            let is = i.class.opcode == Op::Variable && i.operands.first() == Some(&Operand::StorageClass(class));
            Some((i.result_id?, i)).filter(|_| is)
        })
    }

    fn pointee(&self, variable: &Instruction) -> Result<Word, String> {
        let pointer = self.global(variable.result_type.ok_or("a variable without type")?)?;
        id(pointer, 1).ok_or_else(|| "a variable that is no pointer".to_owned())
    }

    fn decoration(&self, target: Word, decoration: Decoration) -> Option<u32> {
        self.spirv.annotations.iter().find_map(|i| {
            let is = i.class.opcode == Op::Decorate
                && id(i, 0) == Some(target)
                && i.operands.get(1) == Some(&Operand::Decoration(decoration));
            if is { number(i, 2) } else { None }
        })
    }

    fn member_offset(&self, structure: Word, member: u32) -> u32 {
        let offset = self.spirv.annotations.iter().find_map(|i| {
            let is = i.class.opcode == Op::MemberDecorate
                && id(i, 0) == Some(structure)
                && number(i, 1) == Some(member)
                && i.operands.get(2) == Some(&Operand::Decoration(Decoration::Offset));
            if is { number(i, 3) } else { None }
        });
        offset.unwrap_or(0)
    }

    /// Bytes of a type in scalar block layout.
    fn size(&self, type_id: Word) -> Result<u32, String> {
        let ty = self.global(type_id)?;
        match ty.class.opcode {
            Op::TypeInt | Op::TypeFloat => Ok(number(ty, 0).unwrap_or(32) / 8),
            Op::TypeVector => Ok(self.size(id(ty, 0).ok_or("vector")?)? * number(ty, 1).ok_or("vector")?),
            Op::TypeArray => {
                let length = self.global(id(ty, 1).ok_or("array")?)?;
                Ok(self.size(id(ty, 0).ok_or("array")?)? * number(length, 0).ok_or("array length")?)
            }
            Op::TypeStruct => {
                let Some(last) = ty.operands.len().checked_sub(1) else { return Ok(0) };
                Ok(self.member_offset(type_id, last as u32) + self.size(id(ty, last).ok_or("struct")?)?)
            }
            other => Err(format!("a {other:?} in a buffer")),
        }
    }

    fn push_size(&self) -> Result<u32, String> {
        self.variables(StorageClass::PushConstant).map(|(_, v)| self.size(self.pointee(v)?)).sum()
    }

    fn bindings(&self) -> Result<Vec<Bound>, String> {
        let mut found = Vec::new();
        for (variable, instruction) in self.variables(StorageClass::StorageBuffer) {
            let set = self.decoration(variable, Decoration::DescriptorSet).ok_or("a buffer without set")?;
            if set != 0 {
                return Err(format!("a buffer in descriptor set {set}"));
            }
            let number = self.decoration(variable, Decoration::Binding).ok_or("a buffer without binding")?;
            let block = self.global(self.pointee(instruction)?)?;
            let array = id(block, 0).ok_or("a buffer block without members")?;
            let stride = self.decoration(array, Decoration::ArrayStride).ok_or("a buffer that is no array")?;
            let access = self.access(variable).ok_or_else(|| format!("binding {number} is never used"))?;
            found.push(Bound { number, access, name: String::new(), stride });
        }
        Ok(found)
    }

    /// How the code uses a variable: pointers made from it are followed through access chains and copies.
    fn access(&self, variable: Word) -> Option<Access> {
        let mut pointers = vec![variable];
        let (mut reads, mut writes) = (false, false);
        for instruction in self.spirv.all_inst_iter() {
            let through = id(instruction, 0).is_some_and(|p| pointers.contains(&p));
            if !through {
                continue;
            }
            match instruction.class.opcode {
                Op::AccessChain | Op::InBoundsAccessChain | Op::CopyObject => pointers.extend(instruction.result_id),
                Op::Load | Op::AtomicLoad => reads = true,
                Op::Store | Op::AtomicStore => writes = true,
                op if format!("{op:?}").starts_with("Atomic") => (reads, writes) = (true, true),
                _ => {}
            }
        }
        match (reads, writes) {
            (true, true) => Some(Access::Update),
            (true, false) => Some(Access::Read),
            (false, true) => Some(Access::Write),
            (false, false) => None,
        }
    }
}
