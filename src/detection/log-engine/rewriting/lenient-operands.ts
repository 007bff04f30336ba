type Node = Record<string, unknown>;

const words = (text: string): string[] => text.split(/\s+/).filter(Boolean);
const bitOperators = new Set(words('& | << >> ~ xor bit_count'));
const arithmetic = new Set(
  words(`+ - * / // % ** ^ add subtract multiply divide mod pow power abs ceil ceiling floor round sqrt ln log log10 log2 exp sum avg mean median
    mad stddev stddev_pop stddev_samp variance var_pop var_samp quantile quantile_cont quantile_disc product fsum favg sumkahan kahan_sum`),
);
const timeFunctions = new Set(
  words(`date_trunc datetrunc date_part datepart date_diff datediff date_sub datesub date_add strftime epoch epoch_ms epoch_us year quarter
    month week day hour minute second dayofweek isodow dayofyear dayname monthname last_day time_bucket`),
);
const textSources = new Set(['json_extract_string', '->>']);
const times = new Set(['_time', '_ingested']);

/**
 * Returns a function call whose operands that may be columns of text or decimals are converted to what it needs: numbers, times or lists. Other
 * calls, and arithmetic with times and intervals, stay as they are.
 */
export function convertOperands(call: Node): Node {
  const name = String(call['function_name']).toLowerCase();
  const children = (call['children'] as Node[] | undefined) ?? [];
  const convert = findConversion(name, children);
  return convert
    ? { ...call, children: children.map((child, index) => (mayBeText(child) ? convert(child, index) : child)) }
    : call;
}

function findConversion(name: string, children: Node[]): ((child: Node, index: number) => Node) | undefined {
  if (timeFunctions.has(name)) return (child) => castTo(child, { id: 'TIMESTAMP', type_info: null });
  if (/^(?:list|array)_/.test(name))
    return (child, index) => (index === 0 ? castTo(castTo(child, json), textList) : child);
  if (children.some(isTime)) return undefined;
  if (bitOperators.has(name)) return (child) => castTo(child, { id: 'BIGINT', type_info: null });
  return arithmetic.has(name) ? (child) => castTo(child, { id: 'DOUBLE', type_info: null }) : undefined;
}

const mayBeText = (node: Node): boolean =>
  (node['class'] === 'COLUMN_REF' && !isTime(node)) ||
  node['type'] === 'OPERATOR_COALESCE' ||
  (node['class'] === 'FUNCTION' && textSources.has(String(node['function_name'])));

function isTime(node: Node): boolean {
  if (node['class'] === 'COLUMN_REF') return times.has(String((node['column_names'] as string[]).at(-1)).toLowerCase());
  if (node['class'] === 'PARAMETER') return true;
  if (node['class'] === 'CAST') return /TIME|DATE|INTERVAL/.test(JSON.stringify(node['cast_type']));
  return node['class'] === 'FUNCTION' && /^(?:to_|date_|make_|epoch|strptime|time)/.test(String(node['function_name']));
}

type CastType = { id: string; type_info: unknown };

const json: CastType = {
  id: 'UNBOUND',
  type_info: {
    type: 'UNBOUND_TYPE_INFO',
    alias: '',
    extension_info: null,
    name: 'json',
    catalog: '',
    schema: '',
    user_type_modifiers: [],
  },
};
const textList: CastType = {
  id: 'LIST',
  type_info: {
    type: 'LIST_TYPE_INFO',
    alias: '',
    extension_info: null,
    child_type: { id: 'VARCHAR', type_info: null },
  },
};

const castTo = (child: Node, type: CastType): Node => ({
  class: 'CAST',
  type: 'OPERATOR_CAST',
  alias: '',
  query_location: child['query_location'],
  child,
  cast_type: type,
  try_cast: true,
});
