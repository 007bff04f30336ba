import { addressFunctions, eventFunctions } from './added-functions.ts';

const words = (text: string): string[] => text.split(/\s+/).filter(Boolean);

/** Functions that aggregate rows. A statement that uses one returns groups, not events. */
export const aggregateFunctions: ReadonlySet<string> = new Set(
  words(`any_value approx_count_distinct approx_quantile approx_top_k arbitrary arg_max arg_max_null arg_min arg_min_null argmax argmin
    array_agg avg bit_and bit_or bit_xor bool_and bool_or corr count count_if count_star countif covar_pop covar_samp entropy favg first fsum
    geomean geometric_mean group_concat histogram kahan_sum kurtosis kurtosis_pop last list listagg mad max max_by mean median min min_by mode
    product quantile quantile_cont quantile_disc regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy
    sem skewness stddev stddev_pop stddev_samp string_agg sum sumkahan var_pop var_samp variance wavg weighted_avg json_group_array
    json_group_object json_group_structure grouping grouping_id`),
);

const operators = words(
  `% & && * ** + - -> ->> / // <-> << <=> <@ >> @ @> ^ ^@ | || ~ ~~ ~~* ~~~ !~~ !~~* ! !__postfix not like ilike`,
);

const windows = words(
  `cume_dist dense_rank fill first_value lag last_value lead nth_value ntile percent_rank rank rank_dense row_number`,
);

const numbers =
  words(`abs acos acosh add asin asinh atan atan2 atanh bit_count cbrt ceil ceiling cos cosh cot degrees divide even exp
  factorial fdiv floor fmod gamma gcd greatest greatest_common_divisor isfinite isinf isnan lcm least least_common_multiple lgamma ln log log10
  log2 mod multiply nextafter pi pow power radians round round_even roundbankers sign signbit sin sinh sqrt subtract tan tanh trunc xor`);

const texts =
  words(`ascii bar base64 bin bit_length char_length character_length chr concat concat_ws contains damerau_levenshtein decode
  editdist3 encode ends_with format formatreadabledecimalsize formatreadablesize format_bytes from_base64 from_binary from_hex hamming hash hex
  ilike_escape instr jaccard jaro_similarity jaro_winkler_similarity lcase left left_grapheme len length length_grapheme levenshtein like_escape
  lower lpad ltrim md5 md5_number md5_number_lower md5_number_upper mismatches nfc_normalize not_ilike_escape not_like_escape octet_length ord
  parse_dirname parse_dirpath parse_filename parse_formatted_bytes parse_path position prefix printf regexp_escape regexp_extract
  regexp_extract_all regexp_full_match regexp_matches regexp_replace regexp_split_to_array repeat replace reverse right right_grapheme rpad rtrim
  sha1 sha256 split split_part starts_with str_split str_split_regex string_split string_split_regex string_to_array strip_accents strlen strpos
  substr substring substring_grapheme suffix to_base to_base64 to_binary to_hex translate trim ucase unbin unhex unicode upper url_decode
  url_encode array_to_string`);

const lists =
  words(`aggregate apply array_aggr array_aggregate array_append array_apply array_cat array_concat array_contains array_distinct
  array_extract array_filter array_grade_up array_has array_has_all array_has_any array_indexof array_intersect array_length array_pop_back
  array_pop_front array_position array_prepend array_push_back array_push_front array_reduce array_resize array_reverse array_reverse_sort
  array_select array_slice array_sort array_transform array_unique array_value array_where array_zip combine element_at filter flatten
  generate_series grade_up list_aggr list_aggregate list_any_value list_append list_apply list_approx_count_distinct list_avg list_bit_and
  list_bit_or list_bit_xor list_bool_and list_bool_or list_cat list_concat list_contains list_count list_distinct list_element list_entropy
  list_extract list_filter list_first list_grade_up list_has list_has_all list_has_any list_histogram list_indexof list_intersect list_kurtosis
  list_last list_mad list_max list_median list_min list_mode list_pack list_position list_prepend list_product list_reduce list_resize
  list_reverse list_reverse_sort list_select list_sem list_skewness list_slice list_sort list_stddev_pop list_stddev_samp list_string_agg
  list_sum list_transform list_unique list_value list_var_pop list_var_samp list_where list_zip range reduce unnest unpivot_list`);

const structures =
  words(`cardinality map map_concat map_contains map_contains_entry map_contains_value map_entries map_extract
  map_extract_value map_from_entries map_keys map_values row struct_concat struct_contains struct_extract struct_extract_at struct_has
  struct_indexof struct_insert struct_keys struct_pack struct_position struct_update struct_values union_extract union_tag union_value
  array_to_json from_json from_json_strict json json_array json_array_length json_contains json_exists json_extract json_extract_path
  json_extract_path_text json_extract_string json_keys json_merge_patch json_object json_pretty json_quote json_structure json_transform
  json_transform_strict json_type json_valid json_value row_to_json to_json`);

const times =
  words(`century date_add date_diff date_part date_sub date_trunc datediff datepart datesub datetrunc day dayname dayofmonth
  dayofweek dayofyear days_in_month decade epoch epoch_ms epoch_ns epoch_us era hour isodow isoyear julian last_day make_date make_time
  make_timestamp make_timestamp_ms make_timestamp_ns make_timestamptz microsecond millennium millisecond minute month monthname nanosecond
  normalized_interval quarter second strftime strptime time_bucket timezone timezone_hour timezone_minute to_centuries to_days to_decades
  to_hours to_microseconds to_millennia to_milliseconds to_minutes to_months to_quarters to_seconds to_timestamp to_weeks to_years
  try_strptime week weekday weekofyear year yearweek`);

const choices = words(
  `can_cast_implicitly coalesce constant_or_null if ifnull nullif switch typeof uuid_extract_timestamp`,
);

/**
 * The functions and operators that a query may use. All others are rejected: those that read files, settings, clocks, random numbers,
 * catalogs or other statements, and those that a later engine version adds.
 */
export const allowedFunctions: ReadonlySet<string> = new Set([
  ...aggregateFunctions,
  ...operators,
  ...windows,
  ...numbers,
  ...texts,
  ...lists,
  ...structures,
  ...times,
  ...choices,
  ...eventFunctions,
  ...addressFunctions,
]);

export const allowedTableFunctions: ReadonlySet<string> = new Set(['unnest', 'range', 'generate_series']);

/** Names that read the machine's clock, as functions and as keywords. */
export const clockFunctions: readonly string[] =
  words(`now get_current_timestamp get_current_time current_timestamp current_date current_time current_localtime
  current_localtimestamp localtime localtimestamp today transaction_timestamp age ago`);

/** Returns why a function that looks harmless is rejected and what to use instead, or undefined for other functions. */
export function suggestAlternative(name: string): string | undefined {
  if (clockFunctions.includes(name)) return 'use $window_end instead';
  if (name === 'random' || name.startsWith('uuid') || name === 'gen_random_uuid')
    return 'a query must return the same rows every time';
  return undefined;
}
