import { useEffect, useEffectEvent, useState } from 'react';
import type { LiveEvent } from '../../api/overview.ts';
import { basePath } from '../../lib/base-path.ts';

/** Calls `onEvent` for each event of the types, separated by commas, as it happens. Returns whether the connection is open. Without types, none is opened. */
export function useEventStream(types: string, onEvent: (event: LiveEvent) => void): boolean {
  const [isLive, setIsLive] = useState(false);
  const receive = useEffectEvent(({ data }: MessageEvent<string>) => onEvent(JSON.parse(data) as LiveEvent));
  useEffect(() => {
    if (types === '') return undefined;
    const source = new EventSource(`${basePath}/api/events?types=${types}`);
    source.addEventListener('open', () => setIsLive(true));
    source.addEventListener('error', () => setIsLive(false));
    for (const type of types.split(','))
      source.addEventListener(type, (message: MessageEvent<string>) => receive(message));
    return () => source.close();
  }, [types]);
  return isLive;
}
