/* Columns of numbers that came as base64: see pack.py for the other end. */
gramme.unpack = function (packed) {
  if (!packed) return null;
  const text = atob(packed.data);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  const kinds = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, f32: Float32Array };
  return new kinds[packed.type](bytes.buffer);
};

/* Shares between 0 and 1 were stored as whole numbers up to 65535. */
gramme.unpackShares = function (packed) {
  const whole = gramme.unpack(packed);
  return whole ? Float32Array.from(whole, (value) => value / 65535) : null;
};

/* Where the entries of each row begin, from how many each row has. */
gramme.starts = function (counts) {
  const starts = new Uint32Array(counts.length + 1);
  for (let i = 0; i < counts.length; i++) starts[i + 1] = starts[i] + counts[i];
  return starts;
};
