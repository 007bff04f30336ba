/**
 * Returns a function that returns the processor time that this thread has used since, in milliseconds. Unlike the clock, it does not count
 * what other processes do meanwhile.
 */
export function startThreadTimer(): () => number {
  const start = process.threadCpuUsage();
  return () => {
    const { user, system } = process.threadCpuUsage(start);
    return (user + system) / 1000;
  };
}
