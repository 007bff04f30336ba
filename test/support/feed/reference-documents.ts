const reference = (id: string, source = 'mitre-attack') => [{ source_name: source, external_id: id }];
const phases = (...names: string[]) => names.map((name) => ({ kill_chain_name: 'mitre-attack', phase_name: name }));

/** A bundle in the form that MITRE publishes, with made-up techniques. */
export const enterpriseBundle = {
  type: 'bundle',
  id: 'bundle--1',
  objects: [
    { type: 'x-mitre-collection', id: 'x-mitre-collection--1', name: 'Enterprise ATT&CK', x_mitre_version: '99.1' },
    {
      type: 'course-of-action',
      id: 'course-of-action--1',
      name: 'Whispering Walls Exfiltration Mitigation',
      x_mitre_deprecated: true,
      external_references: reference('T1999'),
    },
    {
      type: 'attack-pattern',
      id: 'attack-pattern--1',
      name: 'Whispering Walls Exfiltration',
      external_references: reference('T1999'),
      kill_chain_phases: phases('exfiltration'),
      x_mitre_platforms: ['Windows', 'Network Devices'],
    },
    {
      type: 'attack-pattern',
      id: 'attack-pattern--2',
      name: 'Old Walls',
      revoked: true,
      external_references: reference('T1998'),
    },
    {
      type: 'attack-pattern',
      id: 'attack-pattern--3',
      name: 'Data from Local System',
      x_mitre_deprecated: true,
      external_references: reference('T1005'),
    },
    {
      type: 'relationship',
      id: 'relationship--1',
      relationship_type: 'revoked-by',
      source_ref: 'attack-pattern--2',
      target_ref: 'attack-pattern--1',
    },
    {
      type: 'intrusion-set',
      id: 'intrusion-set--1',
      name: 'Quibbleforge',
      aliases: ['Quibbleforge', 'Harvest'],
      external_references: reference('G9999'),
    },
    {
      type: 'malware',
      id: 'malware--1',
      name: 'Zorblatter',
      x_mitre_aliases: ['Zorblatter', 'Zrb'],
      external_references: reference('S9999'),
    },
    {
      type: 'tool',
      id: 'tool--1',
      name: 'Gone Tool',
      revoked: true,
      external_references: reference('S9998'),
    },
  ],
};

export const icsBundle = {
  type: 'bundle',
  id: 'bundle--2',
  objects: [
    {
      type: 'x-mitre-tactic',
      id: 'x-mitre-tactic--1',
      name: 'Impair Process Control',
      x_mitre_shortname: 'impair-process-control',
      external_references: reference('TA0106'),
    },
    {
      type: 'attack-pattern',
      id: 'attack-pattern--4',
      name: 'Brute Force I/O',
      external_references: reference('T0806', 'mitre-attack'),
      kill_chain_phases: phases('impair-process-control'),
      x_mitre_platforms: [],
    },
  ],
};

export const malpediaCluster = {
  type: 'malpedia',
  name: 'Malpedia',
  values: [
    { value: 'Zorblatter', uuid: '1', meta: { synonyms: ['Zorbie'] } },
    { value: 'Vexnibbler', uuid: '2', meta: {} },
    { value: 'Meadow', uuid: '3' },
  ],
};
