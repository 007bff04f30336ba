/** Eight times the input takes about eight times as long where the time is linear, and 64 times where it is quadratic. */
const factor = 8;
export const growthMax = 24;
const triesMax = 10;
/** Less time than this is the clock's own. */
const clockMs = 0.02;

/**
 * Returns the processor time in milliseconds that this thread has used. Unlike the clock, it does not count what other processes do meanwhile. The
 * time of the process is read first, because Linux brings that of the running thread up to date with it.
 */
export function readThreadMs(): number {
  process.cpuUsage();
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

async function fastest(tries: number, work: () => unknown): Promise<number> {
  let fastestMs = Infinity;
  for (let n = 0; n < tries; n += 1) {
    const startMs = readThreadMs();
    await work();
    fastestMs = Math.min(fastestMs, readThreadMs() - startMs);
  }
  return fastestMs;
}

/**
 * Returns how many times as long the work takes for an input of `length` as for one of an eighth of it, in processor time of this thread. It is the
 * minimum of several tries, because load only adds time. A growth above `growthMax` is measured again with twice the length: work that begins beyond
 * some length, such as that of the longest token, comes closer to eight there, and work that grows with the square does not.
 */
export async function measureGrowth<T>(
  inputOf: (length: number) => T,
  work: (input: T) => unknown,
  length: number,
): Promise<number> {
  const growth = await compareLengths(inputOf, work, length);
  return growth < growthMax ? growth : Math.min(growth, await compareLengths(inputOf, work, 2 * length));
}

async function compareLengths<T>(
  inputOf: (length: number) => T,
  work: (input: T) => unknown,
  length: number,
): Promise<number> {
  const [short, long] = [inputOf(Math.round(length / factor)), inputOf(length)];
  const measureShort = async (): Promise<number> => Math.max(clockMs, await fastest(3, () => work(short)));
  let [shortMs, longMs] = [await measureShort(), await fastest(1, () => work(long))];
  for (let tries = 1; tries < triesMax && longMs > (shortMs * growthMax) / 2; tries += 1) {
    longMs = Math.min(longMs, await fastest(1, () => work(long)));
    shortMs = Math.min(shortMs, await measureShort());
  }
  return longMs / shortMs;
}

/** Throws unless the time of the work grows with the length of its input, and not with its square. */
export async function expectLinearTime<T>(
  inputOf: (length: number) => T,
  work: (input: T) => unknown,
  length: number,
): Promise<void> {
  const growth = await measureGrowth(inputOf, work, length);
  if (growth < growthMax) return;
  const sample = JSON.stringify(inputOf(24)).slice(0, 80);
  throw new Error(`${factor} times the input takes ${growth.toFixed(1)} times as long: ${sample}`);
}

/** Returns a function that repeats a text up to a length. */
export const repeated =
  (part: string, before = '', after = '') =>
  (length: number): string =>
    before + part.repeat(Math.ceil(length / part.length)) + after;
