// No source writes about threats from before 1981. 1970 and 1980 are the zero of two clocks.
const earliest = '1981';
const aheadMaxMs = 2 * 86_400_000;

/** Returns whether a time of a source can be true: neither more than two days in the future, nor before 1981. `time` is ISO text. */
export const isBelievable = (time: string, now: Date): boolean => createBelievableCheck(now)(time);

/** Returns `isBelievable` for one time of the pull. */
export function createBelievableCheck(now: Date): (time: string) => boolean {
  const latest = new Date(now.getTime() + aheadMaxMs).toISOString();
  return (time) => time >= earliest && time <= latest;
}
