export const texts = {
  title: 'Sign in',
  keyLabel: 'API key',
  keyHint: 'The key is exchanged for a session and not kept in this browser.',
  submit: 'Sign in',
  working: 'Signing in …',
  noKey: 'No key yet? The service prints one at its first start. More are made with:',
  command: 'npm run --silent tocsin -- key create --org default --name you',
};
