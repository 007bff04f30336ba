/** The parameters of an address, as text. */
export type Search = Record<string, unknown>;

/** Returns a parameter of the address if it is one of these values. Anything else is ignored, so that an old link still opens. */
export const oneOf = <Value extends string>(
  search: Search,
  name: string,
  values: readonly Value[],
): Value | undefined => values.find((value) => value === search[name]);

/** Returns a parameter of the address as text. Values that look like numbers arrive as such. */
export function textOf(search: Search, name: string): string | undefined {
  const value = search[name];
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Leaves out what is undefined, so that addresses stay short. */
export const compact = <Params extends object>(params: Params): Params =>
  Object.fromEntries(Object.entries(params).filter(([, value]) => value !== undefined)) as Params;
