export type EntityKind = 'actor' | 'malware' | 'tool' | 'vulnerability' | 'sector' | 'country';
/** Something that a passage can mention: a name of the item by its canonical name, a CVE, a sector of STIX, or the code of a country. */
export type Entity = { kind: EntityKind; name: string };
/** An entity with the forms under which a text mentions it. */
export type EntityForms = Entity & { forms: string[] };
