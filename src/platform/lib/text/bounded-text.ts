import { z } from 'zod';

type Bounds = { min?: number; max?: number };

/** Text whose length is counted in code points, as JSON Schema counts it. `of`: what else it must be; nothing is trimmed unless that does it. */
export function text<Base extends z.ZodType<string, string> = z.ZodString>(
  { min = 0, max }: Bounds,
  of: Base = z.string() as unknown as Base,
): Base {
  return of
    .check(({ value, issues }) => {
      const common = { origin: 'string', inclusive: true, input: value } as const;
      if (!isLonger(value, min - 1))
        issues.push({
          ...common,
          code: 'too_small',
          minimum: min,
          message: `must have at least ${min} character${min === 1 ? '' : 's'}`,
        });
      if (max !== undefined && isLonger(value, max))
        issues.push({ ...common, code: 'too_big', maximum: max, message: `must have at most ${max} characters` });
    })
    .meta({ ...(min > 0 ? { minLength: min } : {}), ...(max === undefined ? {} : { maxLength: max }) });
}

/** Whether a text has more code points than `max`. */
export function isLonger(value: string, max: number): boolean {
  if (value.length <= max) return false;
  return value.length > 2 * max || [...value].length > max;
}
