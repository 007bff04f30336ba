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
