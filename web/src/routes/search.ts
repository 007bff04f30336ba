/** The parameters of an address. All are text. */
export type Search = Record<string, unknown>;

export const parseSearch = (text: string): Search => Object.fromEntries(new URLSearchParams(text));

/** Writes parameters as they are, without quotes around text that looks like a number. Undefined ones disappear. */
export function stringifySearch(search: Search): string {
  const entries = Object.entries(search).filter(([, value]) => value !== undefined && value !== null);
  const text = new URLSearchParams(entries.map(([name, value]) => [name, String(value)])).toString();
  return text === '' ? '' : `?${text}`;
}

/** Lists the members of a type, all of them. Routes do not read them off their labels, which load with the page that shows them. */
export const membersOf = <Value extends string>(members: Record<Value, true>): readonly Value[] =>
  Object.keys(members) as Value[];

/** Returns a parameter of the address if it is one of these values. Anything else is ignored, so that an old link still opens. */
export const oneOf = <Value extends string>(
  search: Search,
  name: string,
  values: readonly Value[],
): Value | undefined => values.find((value) => value === search[name]);

/** Returns a parameter of the address unless it is empty. */
export const textOf = (search: Search, name: string): string | undefined =>
  typeof search[name] === 'string' && search[name] !== '' ? search[name] : undefined;

/** Leaves out what is undefined, so that addresses stay short. */
export const compact = <Params extends object>(params: Params): Params =>
  Object.fromEntries(Object.entries(params).filter(([, value]) => value !== undefined)) as Params;
