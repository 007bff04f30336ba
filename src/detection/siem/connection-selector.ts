/** Selects the SIEM of a detection: a connection by its ID, or else the only connection of a SIEM type. */
export type ConnectionSelector = { connectionId: string | null; siemType: string | null };

/** Returns whether a selector means the embedded log store, which is the default. Its connection ID is the organization's ID. */
export function selectsLogStore(orgId: string, { connectionId, siemType }: ConnectionSelector): boolean {
  if (connectionId !== null) return connectionId === orgId;
  return siemType === null || siemType.toLowerCase() === 'local';
}
