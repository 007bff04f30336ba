/** Texts of tools. */
export const texts = {
  none: 'There are no tools.',
  needsGrant: 'sends data, so an administrator must grant it',
};
