import router from '@adonisjs/core/services/router'

const BrochuresController = () => import('#controllers/brochures_controller')
const ToursController = () => import('#controllers/tours_controller')

router.get('/tours', [ToursController, 'index'])
router.get('/tours/:id/availability', [ToursController, 'availability'])
router.get('/brochures/:id', [BrochuresController, 'show'])
