import { z } from 'zod';
import { isObject } from './json/json-values.ts';

/** Returns a body schema that drops the named fields first, so that clients can send back read-only fields of a response. */
export const ignoreFields = <Body extends z.ZodType>(names: readonly string[], body: Body) =>
  z.preprocess(
    (value) =>
      isObject(value) ? Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name))) : value,
    body,
  );
