// The rate-limit binding of Workers on this machine: so many calls with one key in each stretch of seconds.
// What one process counts is forgotten with it, as what one place counts is not known to another.
export default function ({ limit, period }) {
  let until = 0;
  const counts = new Map();
  return {
    async limit({ key }) {
      const now = Date.now();
      if (now >= until) {
        counts.clear();
        until = now + period * 1000;
      }
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      return { success: count <= limit };
    },
  };
}
