import { useEffect, useState } from 'react';

/** A request that may be stopped. `begin` returns the signal of the next request and stops the one before it. */
type StoppableRequest = { begin: () => AbortSignal; stop: () => void };

function createStoppableRequest(): StoppableRequest {
  let controller = new AbortController();
  const stop = (): void => controller.abort();
  const begin = (): AbortSignal => {
    stop();
    controller = new AbortController();
    return controller.signal;
  };
  return { begin, stop };
}

/** Returns a request that also stops when its component leaves the page, so that the service does no work in vain. */
export function useStoppableRequest(): StoppableRequest {
  const [request] = useState(createStoppableRequest);
  useEffect(() => request.stop, [request]);
  return request;
}
