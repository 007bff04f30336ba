/*
 * The fields of the seven operations, for checks of real responses. A line is: name, type, and whether it may be missing or null. Types: string, number,
 * integer, boolean, time (ISO 8601, UTC, milliseconds), any, object, a name of another table, `a|b` for an enum; `[]` for a list. `?` after a
 * name: it may be missing. `null` after a type: it may be null. Other fields are allowed only if they are among the additional names.
 */
const agentRecord = `
  id uuid
  organizationId uuid
  name string
  description string
  createdAt time
  updatedAt time
  deletedAt time null
  toolNames string[]
  inputs Input[]
  modelAlias string
  planningMode auto|never|always
  mode standard|sandbox
  agentType response|detection
  isBuiltIn boolean
  builtInAgentType threat-relevancy|threat-research
  cronSchedule string null
  enabled boolean
  contextDocs ContextDoc[]
  workflowStoryImportId string null
  triggerSummary TriggerSummary[]
  structuredOutputSchema OutputSchema
  tags string[]
  detectionCategory baseline_anomaly|first_occurrence|sequence_pattern|privilege_escalation|custom null
  detectionQuery string null
  siemType string null
  isSuggestion boolean
  lastDetectionRunAt time null
  activeSystemPrompt object
  runs30d integer
  hits30d integer
  avgEvalScore30d number null`;

const tables: Record<string, string> = {
  Agent: agentRecord,
  Input: 'type string\n name string\n description string\n required boolean',
  ContextDoc: 'provider string\n id string\n name string\n mimeType string',
  TriggerSummary: 'id string\n source cron|hit.created|webhook\n name string\n enabled boolean',
  OutputSchema: `type? string\n title? string\n description? string\n properties? object\n items? any\n required? string[]\n enum? string[]
    additionalProperties? boolean`,
  DetectionList: 'detections Agent[]',
  SuggestionList: 'suggestions Agent[]',
  Item: `id uuid
    source Source
    event Event
    summary? string
    tldr? string
    attackPath string[]
    classification Classification
    affectedProducts Product[]
    iocs Iocs
    provenance Provenance
    version integer
    externalId? string
    abstract? string
    lastUpdated time
    createdAt time
    addedToFeedAt time
    canonicalKey string
    duplicateOf? string
    tenantOverrides any null`,
  Source: `url? string\n publisher? string\n publishTime? time\n language? string\n name? string\n tlp? CLEAR|GREEN|AMBER|AMBER+STRICT|RED\n license? string`,
  Event: `title string\n severity none|low|medium|high|critical\n confidence number\n status active|corrected|retracted\n eventFirstSeen? time
    eventLastSeen? time`,
  Classification: `attack Attack[]
    killChain reconnaissance|weaponization|delivery|exploitation|installation|command-and-control|actions-on-objectives[]
    malware Named[]\n actor Named[]
    platforms windows|linux|macos|esxi|network-devices|containers|iaas|saas|identity-provider|office-suite|android|ios|ics[]
    mappings Mapping[]`,
  Attack: 'technique string\n confidence number\n subTechnique? string\n techniqueName? string\n evidenceRef? string',
  Named: 'name string\n confidence number\n aliases string[]',
  Mapping: 'framework string\n id string\n confidence number',
  Product: 'vendor string\n product string\n versions string[]\n confidence number',
  Iocs: 'ipv4 ipv6 domains urls hashes files registryKeys processes certs cloudIds mobileIds'.replaceAll(
    /\w+/g,
    '$& Indicator[]\n',
  ),
  Indicator: `type string\n value string\n status active|expired|revoked|false_positive\n confidence number\n normalizedValue? string
    firstSeen? time\n lastSeen? time\n ttlDays? integer`,
  Provenance: 'supportingPassages Passage[]',
  Passage: 'text string\n sourceUrl string\n charSpan Span',
  Span: 'start integer\n end integer',
  FeedList:
    'items Item[]\n total integer\n page integer\n perPage integer\n hasNext boolean\n validations? object\n outputs? object',
  Stats:
    'totalItems integer\n severityBreakdown Severities\n platformBreakdown Platforms\n sourcePublishers string[]\n recentItems Recent[]',
  Severities: 'critical integer\n high integer\n medium integer\n low integer\n none integer',
  Platforms:
    'windows linux macos esxi network-devices containers iaas saas identity-provider office-suite android ios ics'.replaceAll(
      /\S+/g,
      '$& integer\n',
    ),
  Recent: 'id string\n title string\n severity none|low|medium|high|critical\n publishTime time',
};

/** Additional names beside those of the interface, all of them optional. */
const added: Record<string, string[]> = {
  OutputSchema: ['x-service'],
  Indicator: ['correction'],
  Agent: (
    'detectionCadence customCronSchedule connectionId entityField timeField lookbackMinutes suppressionMinutes revision disabledReason warnings ' +
    'reviews rationale sourceItemIds estimate technique evidence dismissReason dismissNote headline tuning cronTimezone continuous'
  ).split(' '),
};

/** Returns the differences between `value` and the definition of `table`, each with its path. */
export function findInterfaceFaults(table: string, value: unknown, path = ''): string[] {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return [`${path} is not an object`];
  const record = value as Record<string, unknown>;
  const lines = tables[table]!.trim()
    .split(/\n\s*/)
    .map((line) => /^([\w-]+)(\?)? (\S+)( null)?$/.exec(line)!);
  const unknown = Object.keys(record).filter(
    (key) => !lines.some(([, name]) => name === key) && !added[table]?.includes(key),
  );
  return [
    ...unknown.map((key) => `${path}/${key} is not in the table`),
    ...lines.flatMap(([, name = '', optional, type = '', nullable]) => {
      const at = `${path}/${name}`;
      if (!(name in record)) return optional ? [] : [`${at} is missing`];
      if (record[name] === null) return nullable ? [] : [`${at} is null`];
      return typeFaults(type, record[name], at);
    }),
  ];
}

function typeFaults(type: string, value: unknown, at: string): string[] {
  if (type.endsWith('[]')) {
    return Array.isArray(value)
      ? value.flatMap((one, index) => typeFaults(type.slice(0, -2), one, `${at}/${index}`))
      : [`${at} is not a list`];
  }
  if (type in tables) return findInterfaceFaults(type, value, at);
  const check = checks[type] ?? ((one: unknown) => type.split('|').includes(String(one)) && typeof one === 'string');
  return check(value) ? [] : [`${at} is not of type ${type}: ${JSON.stringify(value)}`];
}

const checks: Record<string, (value: unknown) => boolean> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  any: () => true,
  object: (value) => value !== null && typeof value === 'object' && !Array.isArray(value),
  uuid: (value) => typeof value === 'string' && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value),
  time: (value) => typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value),
};
