/** Scripts that run in the page, as text: the browser's types are not those of Node. Each is an expression that Playwright evaluates. */

/** Clicks a link and returns the milliseconds until an element of the new page is painted. */
export const measureRouteChange = (link: string, ready: string): string => `(async () => {
  const frame = () => new Promise(requestAnimationFrame);
  const start = performance.now();
  document.querySelector(${JSON.stringify(link)}).click();
  while (!document.querySelector(${JSON.stringify(ready)})) await frame();
  await frame();
  return performance.now() - start;
})()`;

/** Scrolls an element or the nearest scrolling element around it for `frames` frames. Returns the milliseconds of each frame. */
export const measureScrolling = (element: string, frames: number, pixels: number): string => `(async () => {
  const frame = () => new Promise(requestAnimationFrame);
  let target = document.querySelector(${JSON.stringify(element)});
  while (target.scrollHeight <= target.clientHeight + 1 || getComputedStyle(target).overflowY === 'visible') target = target.parentElement;
  const times = [];
  let last = await frame();
  for (let n = 0; n < ${frames}; n += 1) {
    target.scrollTop += ${pixels};
    const now = await frame();
    times.push(now - last);
    last = now;
  }
  return times;
})()`;

/** Returns when each request to the API began and ended, in milliseconds since the navigation began. */
export const listApiRequests = `performance.getEntriesByType('resource')
  .filter(({ name }) => /\\/(?:api|items|stats)\\b/.test(new URL(name).pathname))
  .map(({ startTime, responseEnd }) => ({ startMs: startTime, endMs: responseEnd }))`;
