import { jsx } from './jsx-runtime.ts';

export { Fragment } from './jsx-runtime.ts';
export type { JSX } from './jsx-runtime.ts';

/** Like `jsx`, for `npm run dev`. */
export const jsxDEV: typeof jsx = (type, props, key) => jsx(type, props, key);
