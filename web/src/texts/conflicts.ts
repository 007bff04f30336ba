/** Texts about changes of others. */
export const texts = {
  title: 'Somebody changed this meanwhile',
  body: 'Your change is not saved yet. It is based on what was here before.',
  changes: 'Changes of others',
  unknown: 'What changed is no longer known.',
  unrecorded: 'The values are not recorded.',
  keep: 'Keep theirs',
  again: 'Apply my change again',
  service: 'The service',
  key: (id: string) => `API key ${id}`,
  nothing: 'nothing',
  field: (field: string, before: string, after: string) => `${field}: ${before} → ${after}`,
};
