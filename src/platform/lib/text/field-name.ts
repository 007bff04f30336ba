/** Returns the last part of a dotted field name in lower case, letters and digits only: `userIdentity.user_Name` → `username`. */
export function plainFieldName(field: string): string {
  return field
    .slice(field.lastIndexOf('.') + 1)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '');
}
