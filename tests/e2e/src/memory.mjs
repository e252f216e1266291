// Keeps hold of Wasm's memory, which the glue tells nobody of. It must be loaded before the glue is.
let memory;
const Instance = WebAssembly.Instance;
WebAssembly.Instance = function (module, imports) {
  const instance = new Instance(module, imports);
  memory = instance.exports.memory;
  return instance;
};

export const memoryBytes = () => memory.buffer.byteLength;
