import * as runtime from 'react/jsx-runtime';
import { showText } from './show-text.ts';

export { Fragment } from 'react/jsx-runtime';
export type { JSX } from 'react/jsx-runtime';

/**
 * The functions to which JSX compiles (`jsxImportSource`): React's, with every text shown as `showText` returns it. Values of inputs stay as they
 * are.
 */
export const jsx: typeof runtime.jsx = (type, props, key) => runtime.jsx(type, showProps(type, props), key);
export const jsxs: typeof runtime.jsxs = (type, props, key) => runtime.jsxs(type, showProps(type, props), key);

/** Attributes of elements that people read or hear. */
const readable = ['title', 'aria-label', 'aria-description', 'alt', 'placeholder', 'label'];

function showProps(type: unknown, props: unknown): unknown {
  const given = props as Record<string, unknown>;
  const shown: Record<string, unknown> = {};
  const children = showChildren(given['children']);
  if (children !== given['children']) shown['children'] = children;
  if (typeof type === 'string')
    for (const name of readable) {
      const value = given[name];
      if (typeof value === 'string') shown[name] = showText(value);
    }
  return Object.keys(shown).length === 0 ? props : { ...given, ...shown };
}

/** Returns the same array if none of its texts changes. */
function showChildren(children: unknown): unknown {
  if (typeof children === 'string') return showText(children);
  if (!Array.isArray(children)) return children;
  const shown = children.map((child: unknown) => (typeof child === 'string' ? showText(child) : child));
  return shown.some((child, at) => child !== children[at]) ? shown : children;
}
