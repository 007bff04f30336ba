/** What the lexicon and a model read in an item. */
export const texts = {
  title: 'Readers',
  shownLabel: 'Reader shown',
  shown: { both: 'Both', lexicon: 'Lexicon', model: 'Model' },
  names: { lexicon: 'Lexicon', model: 'Model' },
  states: {
    waiting: 'A model has not read this item yet.',
    failed: 'A model could not read this item.',
    withheld: 'The marking of this item keeps its text from the model.',
  } as Record<string, string>,
  fields: {
    name: 'Name',
    technique: 'Technique',
    product: 'Product',
    severity: 'Severity',
    role: 'Role of a value',
    family: 'Family of a value',
    summary: 'Summary',
    tldr: 'In short',
    step: 'Step',
    advice: 'Advice',
    title: 'Translated title',
  } as Record<string, string>,
  nothing: 'Claims nothing.',
  overruled: 'overruled',
  more: (count: number) => (count === 1 ? '1 more claim' : `${count} more claims`),
  dropped: (count: number) =>
    count === 1
      ? '1 claim did not stand in the text and was dropped.'
      : `${count} claims did not stand in the text and were dropped.`,
  unread: (count: number) =>
    count === 1 ? '1 part of the text was not read.' : `${count} parts of the text were not read.`,
};

/** The mark of a translated title. */
export const translatedTexts = { byModel: 'translated by a model' };

/** Why a report has its severity. */
export const severityTexts = {
  title: 'Severity',
  label: 'the reason for the severity',
  /** By the rules of `severityBasis`. */
  rules: {
    'report:supply-chain': 'A product, package or update that many use was compromised.',
    'report:destructive-attack': 'Ransomware or a wiper hit several organizations or critical infrastructure.',
    'report:exploited-now': 'Software that faces the internet is exploited.',
    'report:ransomware': 'Describes a ransomware operation.',
    'report:named-actor': 'Describes activity of a named or state-sponsored actor.',
    'report:exploited': 'Describes exploitation of a vulnerability.',
    'report:espionage': 'Describes theft of data from stated targets.',
    'report:targets': 'Describes attacks on stated sectors, countries or organizations.',
    'report:initial-access': 'Describes infections at scale, or ones that lead to ransomware.',
    'report:intrusion': 'Describes an intrusion.',
    'report:intrusion-steps': 'Describes the steps of an intrusion.',
    'report:malware': 'Analyzes malware, a botnet or phishing.',
    'report:threat': 'Describes a threat without victims.',
    'report:indicators': 'Lists active indicators.',
    'report:exploit-code': 'Mentions public exploit code.',
    'report:underground': 'Describes offers or trade of criminals.',
    'report:nuisance': 'Describes adware, scams or spam.',
    'report:decryptor': 'Announces a decryptor.',
    'report:open-data': 'Describes data that was openly accessible.',
    'report:research': 'Describes research without attacks.',
    'report:paper': 'Announces a paper or a talk.',
    'report:vulnerability': 'Discloses a vulnerability without attacks.',
    'report:finding': 'Describes a finding of researchers.',
    'report:old': 'All events are more than two years older than the report.',
    'report:guide': 'Gives advice about a threat.',
    'report:denied': 'The claim is disputed.',
    'model:exploited-now': 'A model reads that it is exploited now.',
    'model:destructive': 'A model reads of a destructive attack.',
    'model:spread': 'A model reads how far it has spread.',
    'model:sector': 'A model reads of attacks on what people depend on.',
    'model:research': 'A model reads of research without attacks.',
    'model:old': 'A model reads of old events.',
    'model:other': 'A model decided from this passage.',
  } as Record<string, string>,
};
