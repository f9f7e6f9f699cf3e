//! The builder: methods of [`Function`] that append instructions, with which kernels are written.

use super::*;

/// Initial capacity for instructions and values: most kernels have fewer.
const CAPACITY: usize = 512;

impl Function {
    /// An empty function for a processor.
    pub fn new(isa: Isa) -> Function {
        Function { isa, body: Vec::with_capacity(CAPACITY), virtuals: Vec::with_capacity(CAPACITY), constants: Vec::new(), locals: 0 }
    }

    /// The processor.
    pub fn isa(&self) -> Isa {
        self.isa
    }

    fn fresh(&mut self, class: Class, width: Width) -> u32 {
        self.virtuals.push(Virtual { class, width, pinned: false });
        self.virtuals.len() as u32 - 1
    }

    fn int_value(&mut self) -> Int {
        Int(self.fresh(Class::Int, Width::W128))
    }

    fn pred(&mut self) -> Pred {
        let class = if self.isa.avx512 { Class::Mask } else { Class::Simd };
        Pred(self.fresh(class, self.isa.width()))
    }

    fn vector(&mut self, width: Width) -> Val {
        Val(self.fresh(Class::Simd, width))
    }

    fn push(&mut self, inst: VecInst) {
        self.body.push(Inst::Vector(inst));
    }

    /// Width of a value.
    pub fn width(&self, v: Val) -> Width {
        self.virtuals[v.0 as usize].width
    }

    /// Never puts the value on the stack.
    pub fn pin(&mut self, v: Val) {
        self.virtuals[v.0 as usize].pinned = true;
    }

    /// Bytes after the code.
    pub fn constant(&mut self, bytes: &[u8]) -> Addr {
        let at = self.constants.iter().position(|c| c == bytes).unwrap_or_else(|| {
            self.constants.push(bytes.to_vec());
            self.constants.len() - 1
        });
        Addr::Const(ConstId(at as u32))
    }

    // Integers.

    /// The pointer to the block of arguments. To be asked for once, first.
    pub fn arguments(&mut self) -> Int {
        let dst = self.int_value();
        self.body.push(Inst::Arguments(dst));
        dst
    }

    /// A number.
    pub fn int(&mut self, value: i64) -> Int {
        let dst = self.int_value();
        self.body.push(Inst::Constant(dst, value));
        dst
    }

    /// A new value that starts as `a`.
    pub fn copy(&mut self, a: Int) -> Int {
        let dst = self.int_value();
        self.body.push(Inst::Copy(dst, a));
        dst
    }

    /// Gives `dst` the value of `a`.
    pub fn set(&mut self, dst: Int, a: Int) {
        self.body.push(Inst::Copy(dst, a));
    }

    /// 64 bits from memory.
    pub fn load_int(&mut self, from: Addr) -> Int {
        let dst = self.int_value();
        self.body.push(Inst::LoadInt(dst, from));
        dst
    }

    /// The argument at byte `offset` of the structure that a kernel is called with.
    pub fn argument(&mut self, args: Int, offset: usize) -> Int {
        self.load_int(args.at(offset as i32))
    }

    /// `value +=` the argument at byte `offset`.
    pub fn advance(&mut self, value: Int, args: Int, offset: usize) {
        let by = self.argument(args, offset);
        self.add(value, by);
    }

    /// The quarters of 16 bytes that a vector has folded by `op`, in all of them, lane by lane.
    pub fn across_quarters(&mut self, op: Binary, mut total: Val) -> Val {
        let width = self.width(total);
        let lanes = width.lanes() as u32;
        let mut distance = lanes / 2;
        while distance > 2 {
            let bytes: Vec<u8> = (0..lanes).flat_map(|lane| (lane ^ distance).to_le_bytes()).collect();
            let at = self.constant(&bytes);
            let from = self.load(width, at);
            let exchanged = self.binary(Binary::Lookup32, from, total);
            total = self.binary(op, exchanged, total);
            distance /= 2;
        }
        total
    }

    /// All lanes of a vector folded by `op`, in all lanes: halves are exchanged, then quarters, and so on. The exchanged lanes are the first operand.
    pub fn across(&mut self, op: Binary, total: Val) -> Val {
        let mut total = self.across_quarters(op, total);
        // Within 16 bytes, interleaving takes a cycle where a lookup takes several.
        let pairs = |f: &mut Function, x: Val| [Binary::InterleaveHigh64, Binary::InterleaveLow64].map(|half| f.binary(half, x, x));
        let [high, low] = pairs(self, total);
        total = self.binary(op, high, low);
        let duplicated = self.binary(Binary::InterleaveLow32, total, total);
        let [high, low] = pairs(self, duplicated);
        total = self.binary(op, high, low);
        total
    }

    /// The sums of the lanes of f32 vectors: those of the first vector in the first lane, and so on, in as few vectors as hold them. Lanes after the last
    /// sum repeat others.
    pub fn lane_sums(&mut self, vectors: &[Val]) -> Vec<Val> {
        let mut blocks = vectors.first().map_or(1, |v| self.width(*v).lanes() / 4);
        let mut fold = |vectors: &[Val], halves: [Binary; 2]| -> Vec<Val> {
            let pair = |pair: &[Val]| {
                let [first, last] = [pair[0], pair[pair.len() - 1]];
                let [a, b] = halves.map(|half| self.binary(half, first, last));
                self.binary(Binary::AddF32, a, b)
            };
            vectors.chunks(2).map(pair).collect()
        };
        let pairs = fold(vectors, [Binary::InterleaveLow32, Binary::InterleaveHigh32]);
        let mut sums = fold(&pairs, [Binary::InterleaveLow64, Binary::InterleaveHigh64]);
        while blocks > 1 {
            sums = fold(&sums, [Binary::EvenBlocks, Binary::OddBlocks]);
            blocks /= 2;
        }
        sums
    }

    /// 32 bits from memory, sign-extended.
    pub fn load_i32(&mut self, from: Addr) -> Int {
        let dst = self.int_value();
        self.body.push(Inst::LoadI32(dst, from));
        dst
    }

    /// 16 bits from memory, zero-extended.
    pub fn load_u16(&mut self, from: Addr) -> Int {
        let dst = self.int_value();
        self.body.push(Inst::LoadU16(dst, from));
        dst
    }

    /// 8 bits from memory, zero-extended.
    pub fn load_u8(&mut self, from: Addr) -> Int {
        let dst = self.int_value();
        self.body.push(Inst::LoadU8(dst, from));
        dst
    }

    /// One, two or three bytes from memory, zero-extended.
    pub fn load_partial(&mut self, from: Int, bytes: u8) -> Int {
        match bytes {
            1 => self.load_u8(from.at(0)),
            2 => self.load_u16(from.at(0)),
            _ => {
                let high = self.load_u8(from.at(2));
                self.shl(high, 16);
                let low = self.load_u16(from.at(0));
                self.add(low, high);
                low
            }
        }
    }

    /// 64 bits to memory.
    pub fn store_int(&mut self, to: Addr, src: Int) {
        self.body.push(Inst::StoreInt(to, src));
    }

    /// The address of a place.
    pub fn address(&mut self, of: Addr) -> Int {
        let dst = self.int_value();
        self.body.push(Inst::Address(dst, of));
        dst
    }

    /// The address of memory of the function's own, at a multiple of 64, for at least so many bytes (a few thousand at most).
    pub fn local(&mut self, bytes: usize) -> Int {
        let dst = self.int_value();
        self.body.push(Inst::Local(dst, self.locals));
        // One slot more than needed, for the way to the next multiple.
        self.locals += bytes.div_ceil(emit::SLOT_BYTES) + 1;
        self.add(dst, emit::SLOT_BYTES as i32 - 1);
        self.and(dst, -(emit::SLOT_BYTES as i32));
        dst
    }

    /// `dst += b`
    pub fn add(&mut self, dst: Int, b: impl Into<IntSrc>) {
        self.body.push(Inst::Int(IntOp::Add, dst, b.into()));
    }

    /// `dst -= b`
    pub fn sub(&mut self, dst: Int, b: impl Into<IntSrc>) {
        self.body.push(Inst::Int(IntOp::Sub, dst, b.into()));
    }

    /// `dst *= b`
    pub fn mul(&mut self, dst: Int, b: Int) {
        self.body.push(Inst::Int(IntOp::Mul, dst, b.into()));
    }

    /// `dst &= b`
    pub fn and(&mut self, dst: Int, b: impl Into<IntSrc>) {
        self.body.push(Inst::Int(IntOp::And, dst, b.into()));
    }

    /// `dst <<= n`
    pub fn shl(&mut self, dst: Int, n: u8) {
        self.body.push(Inst::Int(IntOp::Shl, dst, i32::from(n).into()));
    }

    /// `dst >>= n`, zeros shifted in.
    pub fn shr(&mut self, dst: Int, n: u8) {
        self.body.push(Inst::Int(IntOp::Shr, dst, i32::from(n).into()));
    }

    /// Asks for the line of a place; the place need not exist.
    pub fn prefetch(&mut self, what: Prefetch, at: Addr) {
        self.body.push(Inst::Prefetch(what, at));
    }

    /// Orders the stores of [`Function::store_streaming`] before all later stores, for every observer.
    pub fn store_fence(&mut self) {
        self.body.push(Inst::StoreFence);
    }

    // Structure.

    /// Runs `body` as often as `count` says, not at all from 0 down. `count` counts down to 0.
    pub fn repeat(&mut self, count: Int, body: impl FnOnce(&mut Function)) {
        self.repeated(count, LoopKind::Checked, body);
    }

    /// Runs `body` as often as `count`, at least 1, says. `count` counts down to 0.
    pub fn repeat_some(&mut self, count: Int, body: impl FnOnce(&mut Function)) {
        self.repeated(count, LoopKind::AtLeastOnce, body);
    }

    fn repeated(&mut self, count: Int, kind: LoopKind, body: impl FnOnce(&mut Function)) {
        self.body.push(Inst::Loop(count, kind));
        body(self);
        self.body.push(Inst::EndLoop(count, kind));
    }

    /// Runs `body` if the comparison of `a` with `b` holds.
    pub fn when(&mut self, how: Compare, a: Int, b: impl Into<IntSrc>, body: impl FnOnce(&mut Function)) {
        self.body.push(Inst::If(how, a, b.into()));
        body(self);
        self.body.push(Inst::EndIf);
    }

    // Vectors.

    /// Zeros.
    pub fn zero(&mut self, width: Width) -> Val {
        let dst = self.vector(width);
        self.push(VecInst::Zero(dst));
        dst
    }

    /// Makes `dst` zeros.
    pub fn clear(&mut self, dst: Val) {
        self.push(VecInst::Zero(dst));
    }

    /// Gives `dst` the value of `a`.
    pub fn assign(&mut self, dst: Val, a: Val) {
        self.push(VecInst::Move(dst, a));
    }

    /// A new vector that starts as `a`.
    pub fn copy_of(&mut self, a: Val) -> Val {
        let dst = self.vector(self.width(a));
        self.push(VecInst::Move(dst, a));
        dst
    }

    /// A 32-bit number from memory in every lane.
    pub fn splat(&mut self, width: Width, from: Addr) -> Val {
        let dst = self.vector(width);
        self.push(VecInst::SplatMem(dst, from));
        dst
    }

    /// A number from memory in every lane of the widest vector, converted to f32 (a word for [`Elem::I32`] and bits); its own bytes are all
    /// that is read.
    pub fn splat_as(&mut self, elem: Elem, from: Addr) -> Val {
        if elem.is_f8() {
            let code = self.splat_as(Elem::Low8, from);
            return self.f32_from_f8(elem, code, 0);
        }
        let dst = self.vector(self.isa.width());
        self.push(VecInst::SplatAs(dst, elem, from));
        dst
    }

    /// The same f32 in every lane.
    pub fn splat_f32(&mut self, width: Width, x: f32) -> Val {
        let at = self.constant(&x.to_le_bytes());
        self.splat(width, at)
    }

    /// The same i32 in every lane.
    pub fn splat_i32(&mut self, width: Width, x: i32) -> Val {
        let at = self.constant(&x.to_le_bytes());
        self.splat(width, at)
    }

    /// The low 32 bits of an integer in every lane.
    pub fn splat_int(&mut self, width: Width, x: Int) -> Val {
        let dst = self.vector(width);
        self.push(VecInst::SplatInt(dst, x));
        dst
    }

    /// A vector from memory.
    pub fn load(&mut self, width: Width, from: Addr) -> Val {
        let dst = self.vector(width);
        self.push(VecInst::Load { dst, from, mask: None });
        dst
    }

    /// The lanes of a vector in memory that a mask names, the others 0; nothing else is touched.
    pub fn load_masked(&mut self, from: Addr, mask: Pred) -> Val {
        let dst = self.vector(self.isa.width());
        self.push(VecInst::Load { dst, from, mask: Some(mask) });
        dst
    }

    /// A vector to memory.
    pub fn store(&mut self, to: Addr, src: Val) {
        self.push(VecInst::Store { to, src, mask: None });
    }

    /// A vector to memory non-temporally, at a multiple of its bytes: lines are not read before they are written. [`Function::store_fence`] comes
    /// after the last.
    pub fn store_streaming(&mut self, to: Addr, src: Val) {
        self.push(VecInst::StoreStreaming { to, src });
    }

    /// f32 lanes converted as by [`Function::store_number`] and stored as by [`Function::store_streaming`], at a multiple of the bytes that they take; subnormal
    /// values may become 0 in bf16.
    pub fn store_streaming_as(&mut self, elem: Elem, to: Addr, src: Val) {
        let src = match elem {
            Elem::I32 => self.whole_number(src),
            _ if elem.is_f8() => self.f8_from_f32(elem, src),
            _ => src,
        };
        match elem.bytes() {
            4 => self.store_streaming(to, src),
            _ => self.push(VecInst::StoreStreamingAs { elem: if elem.is_f8() { Elem::Low8 } else { elem }, to, src }),
        }
    }

    /// The lanes that a mask names to memory; nothing else is touched.
    pub fn store_masked(&mut self, to: Addr, src: Val, mask: Pred) {
        self.push(VecInst::Store { to, src, mask: Some(mask) });
    }

    /// As many numbers as the widest vector has lanes, converted to f32 (words for [`Elem::I32`] and bits); lanes that a mask does not name
    /// are 0 and not touched.
    pub fn load_as(&mut self, elem: Elem, from: Addr, mask: Option<Pred>) -> Val {
        if elem.is_f8() {
            let code = self.load_as(Elem::Low8, from, mask);
            return self.f32_from_f8(elem, code, 0);
        }
        let dst = self.vector(self.isa.width());
        self.push(VecInst::LoadAs { dst, elem, from, mask });
        dst
    }

    /// Stores f32 lanes (words for [`Elem::I32`] and bits, the others of which are 0) converted: floats to nearest even, integers too,
    /// saturated, NaN to 0; lanes that a mask does not name are not touched.
    pub fn store_as(&mut self, elem: Elem, to: Addr, src: Val, mask: Option<Pred>) {
        if elem.is_f8() {
            let code = self.f8_from_f32(elem, src);
            return self.store_as(Elem::Low8, to, code, mask);
        }
        self.push(VecInst::StoreAs { elem, to, src, mask });
    }

    /// The same as f32 whatever they are: integers of 32 bits too.
    pub fn load_number(&mut self, elem: Elem, from: Addr, mask: Option<Pred>) -> Val {
        let x = self.load_as(elem, from, mask);
        if elem == Elem::I32 { self.unary(Unary::F32FromI32, x) } else { x }
    }

    /// Stores f32 lanes converted to any type: to integers of 32 bits to nearest even, saturated, NaN to 0.
    pub fn store_number(&mut self, elem: Elem, to: Addr, src: Val, mask: Option<Pred>) {
        let x = if elem == Elem::I32 { self.whole_number(src) } else { src };
        self.store_as(elem, to, x, mask);
    }

    /// f32 to i32 to nearest even, saturated, NaN to 0.
    fn whole_number(&mut self, x: Val) -> Val {
        let width = self.width(x);
        let limit = self.splat_f32(width, 2_147_483_648.0);
        let (above, number) = (self.compare_f32(Compare::Ge, x, limit), self.compare_f32(Compare::Eq, x, x));
        let (most, zero) = (self.splat_i32(width, i32::MAX), self.zero(width));
        let converted = self.unary(Unary::I32FromF32, x);
        let bounded = self.select(above, most, converted);
        self.select(number, bounded, zero)
    }

    /// Stores f32 lanes as bf16, to nearest even; subnormal values may become 0, which saves a test. Lanes that a mask does not name are
    /// not touched.
    pub fn store_bf16_flushed(&mut self, to: Addr, src: Val, mask: Option<Pred>) {
        self.push(VecInst::StoreFlushed { to, src, mask });
    }

    /// The same of two vectors whose lanes follow each other in memory.
    pub fn store_both_bf16_flushed(&mut self, to: Addr, first: Val, second: Val) {
        self.push(VecInst::StoreBothFlushed { to, first, second });
    }

    /// Stores two vectors whose lanes follow each other at either place as bytes, saturated: integers, or `real` numbers, to nearest even
    /// and NaN to 0.
    pub fn store_bytes(&mut self, elem: Elem, real: bool, to: [Addr; 2], src: [Val; 4]) {
        self.push(VecInst::StoreBytes { elem, real, to, src });
    }

    /// `f(a)`
    pub fn unary(&mut self, op: Unary, a: Val) -> Val {
        let dst = self.vector(self.width(a));
        self.push(VecInst::Unary(op, dst, a));
        dst
    }

    /// `a op b`
    pub fn binary(&mut self, op: Binary, a: Val, b: impl Into<Src>) -> Val {
        let dst = self.vector(self.width(a));
        self.push(VecInst::Binary(op, dst, a, b.into()));
        dst
    }

    /// `dst = dst op b`
    pub fn update(&mut self, op: Binary, dst: Val, b: impl Into<Src>) {
        self.push(VecInst::Binary(op, dst, dst, b.into()));
    }

    /// `dst = a op dst`
    pub fn update_from(&mut self, op: Binary, dst: Val, a: Val) {
        self.push(VecInst::Binary(op, dst, a, dst.into()));
    }

    /// `dst += f(a, b)`
    pub fn accumulate(&mut self, op: Accumulate, dst: Val, a: Val, b: impl Into<Src>) {
        self.push(VecInst::Accumulate(op, dst, a, b.into()));
    }

    /// Each byte of a vector of 64 looked up in a table of 256, the bytes of four vectors; AVX512-VBMI only.
    pub fn lookup_bytes(&mut self, bytes: Val, table: [Val; 4]) -> Val {
        debug_assert!(self.isa.vbmi, "only AVX512-VBMI looks up bytes");
        let dst = self.vector(self.width(bytes));
        self.push(VecInst::LookupBytes { dst, bytes, table });
        dst
    }

    /// Compares f32 lanes.
    pub fn compare_f32(&mut self, how: Compare, a: Val, b: Val) -> Pred {
        let dst = self.pred();
        self.push(VecInst::CompareF32(how, dst, a, b));
        dst
    }

    /// Compares i32 lanes.
    pub fn compare_i32(&mut self, how: Compare, a: Val, b: Val) -> Pred {
        let dst = self.pred();
        self.push(VecInst::CompareI32(how, dst, a, b));
        dst
    }

    /// `if mask { yes } else { no }`
    pub fn select(&mut self, mask: Pred, yes: Val, no: Val) -> Val {
        let dst = self.vector(self.width(yes));
        self.push(VecInst::Select { dst, mask, yes, no });
        dst
    }

    /// `dst = if mask { yes } else { dst }`
    pub fn replace(&mut self, dst: Val, mask: Pred, yes: Val) {
        self.push(VecInst::Select { dst, mask, yes, no: dst });
    }

    /// The first `count` lanes of the widest vector, all from their number on; `count` is 0 or more and fits 31 bits.
    pub fn first_lanes(&mut self, count: Int) -> Pred {
        let dst = self.pred();
        self.push(VecInst::FirstLanes(dst, count));
        dst
    }

    /// A bit for each lane of the widest vector from memory, the lowest first: a byte with AVX2, two with AVX-512.
    pub fn load_bits(&mut self, from: Addr) -> Pred {
        let dst = self.pred();
        self.push(VecInst::LoadBits(dst, from));
        dst
    }

    /// A bit for each lane of the widest vector to memory, as [`Function::load_bits`] reads them.
    pub fn store_bits(&mut self, to: Addr, bits: Pred) {
        self.push(VecInst::StoreBits(to, bits));
    }

    // Tiles.

    /// Sets the shapes of the tile registers, which clears them, from 64 bytes: 1, 15 zeros, bytes of a line of every tile (8 elements of 16
    /// bits, 16 bytes of zeros), lines of every tile (8 bytes, 8 zeros).
    pub fn tile_config(&mut self, shapes: Addr) {
        self.body.push(Inst::Tile(TileInst::Config(shapes)));
    }

    /// Gives the tile registers up; a thread that holds none is switched faster.
    pub fn tile_release(&mut self) {
        self.body.push(Inst::Tile(TileInst::Release));
    }

    /// A tile of zeros.
    pub fn tile_zero(&mut self, tile: Tile) {
        self.body.push(Inst::Tile(TileInst::Zero(tile)));
    }

    /// A tile from memory: lines `stride` bytes apart.
    pub fn tile_load(&mut self, tile: Tile, (from, disp): (Int, i32), stride: Int, reuse: Reuse) {
        self.body.push(Inst::Tile(TileInst::Load(tile, from.indexed(stride, 1, disp), reuse)));
    }

    /// A tile to memory: lines `stride` bytes apart.
    pub fn tile_store(&mut self, to: Int, stride: Int, disp: i32, tile: Tile) {
        self.body.push(Inst::Tile(TileInst::Store(to.indexed(stride, 1, disp), tile)));
    }

    /// `c += a * b`
    pub fn tile_dot(&mut self, op: TileProduct, c: Tile, a: Tile, b: Tile) {
        self.body.push(Inst::Tile(TileInst::Dot(op, c, a, b)));
    }

    /// Lowers, gives registers and assembles.
    ///
    /// # Errors
    /// [`IrError`]: the author's mistake.
    pub fn finish(self) -> Result<Compiled, IrError> {
        emit::compile(self, false)
    }

    /// As [`Function::finish`], with [`Assembled::asked`] filled.
    ///
    /// # Errors
    /// As there.
    pub fn finish_recording(self) -> Result<Compiled, IrError> {
        emit::compile(self, true)
    }
}
