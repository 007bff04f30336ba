/** The author columns of a version: the key, its name, and the person or key that signed in. */
export type AuthorColumns = { keyId: string | null; keyName: string | null; actor: string | null };

export const toAuthor = ({
  keyId,
  keyName,
  actor,
}: AuthorColumns): { keyId: string | null; name: string | null } | null =>
  keyId === null && actor === null ? null : { keyId, name: actor ?? keyName };
