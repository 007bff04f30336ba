export const texts = {
  title: 'Sign in',
  singleSignOn: 'Continue with single sign-on',
  or: 'or with an API key',
  problems: {
    denied: 'Your identity provider refused the sign-in. Ask its administrator for access to Tocsin.',
    expired: 'This sign-in was started in another tab or browser, took too long, or was used before. Sign in again.',
    no_group: 'None of your groups has access to Tocsin. Ask an administrator of Tocsin to map one of your groups.',
    suspended: 'Your organization is suspended. Ask the operator of this service to resume it.',
    disabled: 'An administrator of Tocsin disabled your access. Ask one to enable it again.',
    unavailable: 'The identity provider does not answer. Try again in a minute, or sign in with an API key.',
    failed: 'Single sign-on did not work. The log of the service has the reason.',
  },
  ended: {
    title: 'Your session has ended',
    description: 'Sign in again to go on where you are.',
    notSaved: 'Nothing was saved. Sign in again, then send it once more. What you typed is still there.',
    resend: 'Your session had ended, so nothing was saved. Send it again.',
  },
  requestId: (id: string) => `Request ID ${id}`,
  keyLabel: 'API key',
  keyHint: 'The key is exchanged for a session and not kept in this browser.',
  submit: 'Sign in',
  working: 'Signing in …',
  noKey: 'No key yet?',
  noKeyHint: 'The service prints one at its first start. This command makes more:',
  command: 'npm run --silent tocsin -- key create --org default --name you',
};

export type SignInProblem = keyof typeof texts.problems;
export const signInProblems = Object.keys(texts.problems) as SignInProblem[];
