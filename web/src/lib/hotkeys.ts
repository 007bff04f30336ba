import { useEffect, useRef } from 'react';
import { tinykeys } from 'tinykeys';

type Handlers = Record<string, (event: KeyboardEvent) => void>;

/** Returns whether the event belongs to a field for text. The first element of its path is inside of the editors' shadow trees. */
function isTyping(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches('input:not([type=checkbox]), textarea, select'))
  );
}

/** Returns whether Enter activates the focused element. The rows of a list are options, which the list's own Enter opens. */
const isActivation = ({ key, target }: KeyboardEvent): boolean =>
  key === 'Enter' &&
  target instanceof HTMLElement &&
  target.closest(':is(a, button, summary):not([role=option]), [role=menu]') !== null;

/** Returns whether an arrow key belongs to something beside the list: a panel that it scrolls, or a menu. */
const isOutsideList = ({ key, target }: KeyboardEvent): boolean =>
  key.startsWith('Arrow') &&
  target instanceof HTMLElement &&
  target.closest('[data-panel], [role=region], [role=dialog], [role=menu]') !== null;

/**
 * Binds keys such as `j`, `g h` or `$mod+k` while the component is mounted. Keys without a modifier are ignored while the user types
 * in a field, and while `enabled` is false. Enter on a link or button activates that, and arrow keys outside of the list do what they do there.
 */
export function useHotkeys(handlers: Handlers, { enabled = true } = {}): void {
  const latest = useRef(handlers);
  useEffect(() => {
    latest.current = handlers;
  });
  const names = Object.keys(handlers).join(' , ');
  useEffect(() => {
    if (!enabled) return;
    const bindings = names.split(' , ').map((name) => [
      name,
      (event: KeyboardEvent) => {
        if (event.defaultPrevented || isActivation(event) || isOutsideList(event)) return;
        if (isTyping(event) && !name.startsWith('$mod')) return;
        event.preventDefault();
        latest.current[name]?.(event);
      },
    ]);
    // What belongs to a field is decided above.
    const ignore = ({ repeat, isComposing }: KeyboardEvent): boolean => repeat || isComposing;
    return tinykeys(window, Object.fromEntries(bindings) as Handlers, { ignore });
  }, [names, enabled]);
}
