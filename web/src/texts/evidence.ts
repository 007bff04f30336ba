export const texts = {
  evidence: 'Evidence',
  time: 'Time',
  cited: 'Cited as evidence',
  allFields: (hidden: number) => `Show ${hidden} more ${hidden === 1 ? 'field' : 'fields'}`,
  unjudged: 'No model judged this. It stands on its facts alone.',
  notTriggered: 'Not a hit',
  triggered: 'Hit',
  nextStep: 'Next step',
  confidence: (percent: number) => `${percent} % confident`,
};
