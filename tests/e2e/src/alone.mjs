// Stands in place of the Worker's glue where no other server can be reached.
export * from "./glue.js";

globalThis.fetch = () => Promise.reject(new Error("nobody is out there"));
