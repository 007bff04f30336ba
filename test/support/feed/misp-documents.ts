const uuid = (name: string): string =>
  `${Buffer.from(name.padEnd(4, '0')).toString('hex').slice(0, 8)}-0000-4000-8000-000000000000`;

export const mispAttribute = (type: string, value: string, more: object = {}): Record<string, unknown> => ({
  uuid: uuid(value),
  type,
  category: 'Network activity',
  to_ids: true,
  timestamp: '1704067200',
  value,
  ...more,
});

/** Returns a MISP event. `more` overrides its fields. */
export const mispEvent = (name: string, more: Record<string, unknown> = {}): { Event: Record<string, unknown> } => ({
  Event: {
    uuid: uuid(name),
    info: `Campaign ${name}`,
    date: '2024-01-01',
    threat_level_id: '2',
    analysis: '2',
    published: true,
    timestamp: '1704067200',
    Orgc: { name: 'CERT', uuid: uuid('cert') },
    Tag: [{ name: 'tlp:green' }, { name: 'misp-galaxy:threat-actor="Sofacy"' }],
    Attribute: [
      mispAttribute('domain', 'bad.example'),
      mispAttribute('filename|md5', 'run.exe|d41d8cd98f00b204e9800998ecf8427e'),
    ],
    Object: [
      { name: 'file', Attribute: [mispAttribute('text', String.raw`C:\Users\a\run.exe`, { object_relation: 'path' })] },
    ],
    ...more,
  },
});

export const mispId = uuid;
