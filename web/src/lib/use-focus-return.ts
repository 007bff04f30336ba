import { type RefObject, useEffect, useRef } from 'react';

/**
 * Returns the focus to a list when the panel beside it closes: to the element that had it last, or to the first one of the Tab order if
 * that element is gone. A focus that has already moved elsewhere stays there. Spread the result on the list's element.
 */
export function useFocusReturn(list: RefObject<HTMLElement | null>, isOpen: boolean) {
  const last = useRef<HTMLElement | null>(null);
  const wasOpen = useRef(isOpen);
  useEffect(() => {
    if (wasOpen.current && !isOpen && document.activeElement === document.body) {
      const target = last.current?.isConnected
        ? last.current
        : list.current?.querySelector<HTMLElement>('[tabindex="0"]');
      target?.focus({ preventScroll: true });
    }
    wasOpen.current = isOpen;
  }, [isOpen, list]);
  return {
    onFocus: (event: React.FocusEvent<HTMLElement>) => {
      last.current = event.target;
    },
  };
}
