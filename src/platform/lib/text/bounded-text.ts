import { z } from 'zod';

type Bounds = { min?: number; max?: number };

/**
 * Returns a string schema with bounds on the length in code points, as JSON Schema counts it. `base` adds further checks.
 * The text is not trimmed unless `base` trims it.
 */
export function boundedString<Base extends z.ZodType<string, string> = z.ZodString>(
  { min = 0, max }: Bounds,
  base: Base = z.string() as unknown as Base,
): Base {
  return base
    .check(({ value, issues }) => {
      const common = { origin: 'string', inclusive: true, input: value } as const;
      if (!isLongerThan(value, min - 1))
        issues.push({
          ...common,
          code: 'too_small',
          minimum: min,
          message: `must have at least ${min} character${min === 1 ? '' : 's'}`,
        });
      if (max !== undefined && isLongerThan(value, max))
        issues.push({ ...common, code: 'too_big', maximum: max, message: `must have at most ${max} characters` });
    })
    .meta({ ...(min > 0 ? { minLength: min } : {}), ...(max === undefined ? {} : { maxLength: max }) });
}

/** Returns whether a text has more code points than `max`. */
export function isLongerThan(value: string, max: number): boolean {
  if (value.length <= max) return false;
  return value.length > 2 * max || [...value].length > max;
}
