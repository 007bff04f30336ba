const phases = (...names: string[]) => names.map((name) => ({ kill_chain_name: 'mitre-attack', phase_name: name }));

/** Returns a STIX object with MITRE's external ID. The part of `id` before `--` is its type. */
const mitreObject = (id: string, name: string, externalId: string, more: object = {}) => ({
  type: id.split('--')[0],
  id,
  name,
  external_references: [{ source_name: 'mitre-attack', external_id: externalId }],
  ...more,
});

/** A bundle in the form that MITRE publishes, with made-up techniques. */
export const enterpriseBundle = {
  type: 'bundle',
  id: 'bundle--1',
  objects: [
    { type: 'x-mitre-collection', id: 'x-mitre-collection--1', name: 'Enterprise ATT&CK', x_mitre_version: '99.1' },
    mitreObject('course-of-action--1', 'Whispering Walls Exfiltration Mitigation', 'T1999', {
      x_mitre_deprecated: true,
    }),
    mitreObject('attack-pattern--1', 'Whispering Walls Exfiltration', 'T1999', {
      kill_chain_phases: phases('exfiltration'),
      x_mitre_platforms: ['Windows', 'Network Devices'],
    }),
    mitreObject('attack-pattern--2', 'Old Walls', 'T1998', { revoked: true }),
    mitreObject('attack-pattern--3', 'Data from Local System', 'T1005', { x_mitre_deprecated: true }),
    {
      type: 'relationship',
      id: 'relationship--1',
      relationship_type: 'revoked-by',
      source_ref: 'attack-pattern--2',
      target_ref: 'attack-pattern--1',
    },
    mitreObject('intrusion-set--1', 'Quibbleforge', 'G9999', { aliases: ['Quibbleforge', 'Harvest'] }),
    mitreObject('malware--1', 'Zorblatter', 'S9999', { x_mitre_aliases: ['Zorblatter', 'Zrb'] }),
    mitreObject('tool--1', 'Gone Tool', 'S9998', { revoked: true }),
  ],
};

export const icsBundle = {
  type: 'bundle',
  id: 'bundle--2',
  objects: [
    mitreObject('x-mitre-tactic--1', 'Impair Process Control', 'TA0106', {
      x_mitre_shortname: 'impair-process-control',
    }),
    mitreObject('attack-pattern--4', 'Brute Force I/O', 'T0806', {
      kill_chain_phases: phases('impair-process-control'),
      x_mitre_platforms: [],
    }),
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
